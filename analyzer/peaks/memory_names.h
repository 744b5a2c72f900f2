// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_PEAKS_MEMORY_NAMES_H_
#define ANALYZER_PEAKS_MEMORY_NAMES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/ledger/replay_observer.h"
#include "analyzer/peaks/site_keys.h"

namespace vramtrack {

// Counts the names that a program gives to its memory (nvtxMemRegionsName), by site. Thread-compatible.
class MemoryNames final : public ReplayObserver {
 public:
  struct Name {
    std::string text;
    double share = 0;  // of the sites' objects that have a name, 0 to 1
  };

  explicit MemoryNames(const Trace& trace) : trace_(trace) {}

  unsigned frequent_calls() const override { return 0; }
  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnOtherEvent(const StreamEvent& event) override;

  // Returns the most frequent name of the sites' objects; nullopt if none has one.
  std::optional<Name> Of(const std::vector<SiteIndex>& sites) const;

 private:
  static constexpr size_t kNamesPerSite = 16;

  const Trace& trace_;
  const Ledger* ledger_ = nullptr;
  SiteKeys sites_{kNamesPerSite};
};

}  // namespace vramtrack

#endif  // ANALYZER_PEAKS_MEMORY_NAMES_H_
