// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_EXPORT_PICKLE_WRITER_H_
#define ANALYZER_EXPORT_PICKLE_WRITER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analyzer/export/exporter.h"

namespace vramtrack {

// Writes Python's pickle format, protocol 2, with only the types that PyTorch's viewers read: dictionaries, lists,
// pairs, strings, integers, booleans. Streams its output and keeps only the strings, so that each is written once.
// Thread-compatible.
class PickleWriter {
 public:
  explicit PickleWriter(ExportSink sink);

  void BeginDict() { Put("}("); }
  void EndDict() { Put("u"); }
  // A list whose items follow. Call Item() before each item, because readers need long lists in batches.
  struct List {
    size_t items = 0;
  };
  List BeginList();
  void Item(List* list);
  void EndList() { Put("e"); }

  // Store and load a whole value in the memo by a number, for values that occur again.
  uint32_t Remember();
  void Recall(uint32_t number);

  void String(std::string_view text);
  void Int(int64_t value);
  void Bool(bool value);
  void IntPair(int64_t first, int64_t second);
  void Key(std::string_view name) { String(name); }
  void End();

 private:
  void Put(std::string_view bytes);

  ExportSink sink_;
  std::string buffer_;
  std::unordered_map<std::string, uint32_t> strings_;
  uint32_t memo_ = 0;
};

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_PICKLE_WRITER_H_
