// SPDX-License-Identifier: Apache-2.0
#include "tests/python/python_trace.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "proto/journal.h"
#include "proto/schema_constants.h"

namespace vramtrack {
namespace {

// What blocks and checkpoints define, by number.
class Defined {
 public:
  explicit Defined(PythonTrace* out) : out_(out) {}

  // `journal`: a process that ends while a thread empties its journal leaves its records in a block as well.
  void Add(const format::Definitions& d, bool journal = false) {
    std::vector<uint64_t> before;
    for (const format::Stack& stack : d.stacks()) {
      std::vector<uint64_t> frames;
      int64_t address = 0;
      for (const int64_t delta : stack.frames()) frames.push_back(static_cast<uint64_t>(address += delta));
      frames.insert(frames.end(), before.end() - stack.shared_outer(), before.end());
      native_[stack.id()] = before = frames;
    }
    for (const format::Code& code : d.codes()) {
      const auto [at, fresh] = codes_.emplace(code.id(), out_->codes.size());
      if (fresh) {
        out_->codes.push_back(code);
      } else if (journal && (!code.name().empty() || repeated_.count(code.id()) != 0)) {
        repeated_.insert(code.id());
      } else {
        out_->codes[at->second].mutable_lines()->append(code.lines());
        if (!code.name().empty()) Error("code defined twice", code.id());
      }
    }
    for (const format::PythonStack& stack : d.python_stacks()) python_[stack.id()] = stack;
    for (const format::JoinedStack& stack : d.joined_stacks()) joined_[stack.id()] = stack;
    for (const format::Unseen& unseen : d.unseen()) {
      if (unseen.reason() == format::UNSEEN_PYTHON) out_->unseen.push_back(unseen.library());
    }
  }

  TracedAllocation Resolve(uint32_t number) {
    TracedAllocation allocation;
    if (native_.count(number) != 0) allocation.native = native_[number];
    const auto joined = joined_.find(number);
    if (joined == joined_.end()) {
      if (number != 0 && native_.count(number) == 0) Error("stack not defined", number);
      return allocation;
    }
    allocation.joined = true;
    const uint32_t native = joined->second.native();
    if (native != 0 && native_.count(native) == 0) Error("native stack not defined", native);
    if (native != 0) allocation.native = native_[native];
    const auto python = python_.find(joined->second.python());
    if (python == python_.end()) {
      Error("Python stack not defined", joined->second.python());
      return allocation;
    }
    const format::PythonStack& stack = python->second;
    allocation.truncated = stack.truncated();
    if (stack.code_size() != stack.instruction_size()) Error("columns differ", stack.id());
    for (int i = 0; i < stack.code_size() && i < stack.instruction_size(); ++i) {
      const auto code = codes_.find(stack.code(i));
      if (code == codes_.end()) {
        Error("code not defined", stack.code(i));
        continue;
      }
      const format::Code& c = out_->codes[code->second];
      allocation.python.push_back({c.name(), c.file(), c.first_line(), static_cast<int64_t>(stack.instruction(i) & ~1u),
                                   (stack.instruction(i) & 1) != 0});
    }
    return allocation;
  }

 private:
  void Error(const char* what, uint32_t id) { out_->errors.push_back(std::string(what) + ": " + std::to_string(id)); }

  PythonTrace* out_;
  std::map<uint32_t, std::vector<uint64_t>> native_;
  std::map<uint32_t, size_t> codes_;
  std::set<uint32_t> repeated_;
  std::map<uint32_t, format::PythonStack> python_;
  std::map<uint32_t, format::JoinedStack> joined_;
};

// What a journal holds that is in no block.
template <typename Visit>
void EachRecord(const format::Journal& journal, Visit visit) {
  const auto& words = journal.words();
  if (words.size() < static_cast<int>(kJournalHeaderWords)) return;
  const size_t end = kJournalHeaderWords + words.Get(kJournalCommitted);
  for (size_t i = kJournalHeaderWords; i < end;) {
    const size_t length = RecordWords(words.Get(static_cast<int>(i)));
    if (length == 0 || i + length > end) break;
    visit(words.data() + i, length);
    i += length;
  }
}

uint64_t At(const google::protobuf::RepeatedField<uint64_t>& column, int row) {
  return row < column.size() ? column.Get(row) : 0;
}

std::string Text(const OraclePythonFrame& frame) {
  return frame.name + " " + frame.file + ":" + std::to_string(frame.first_line) + "+" +
         std::to_string(frame.instruction);
}

}  // namespace

PythonTrace ReadPythonTrace(const std::string& path) {
  PythonTrace out;
  std::ifstream in(path, std::ios::binary);
  format::Trace trace;
  if (!trace.ParseFromIstream(&in)) {
    out.errors.push_back(path + " cannot be read");
    return out;
  }
  const uint64_t base = trace.header().counters(format::COUNTER_BASE_GENERATION);
  Defined defined(&out);
  const auto add = [&](uint64_t bytes, uint32_t stack) {
    const TracedAllocation allocation = defined.Resolve(stack);
    if (allocation.joined) ++out.joined_of_bytes[bytes];
    out.by_bytes.emplace(bytes, allocation);
  };
  std::string pieces;
  for (const format::CheckpointPart& part : trace.checkpoint_parts()) {
    if (part.generation() == base) pieces += part.piece();
  }
  format::Checkpoint checkpoint;
  if (!checkpoint.ParseFromString(pieces)) out.errors.push_back("no checkpoint");
  // A thread may use what another one has defined in a block that comes later.
  defined.Add(checkpoint.definitions());
  for (const format::Block& block : trace.blocks()) {
    if (block.generation() >= base) defined.Add(block.definitions());
  }
  for (const format::Journal& journal : trace.journals()) {
    EachRecord(journal, [&](const uint64_t* record, size_t words) {
      format::Definitions definitions;
      if (OperationOf(record[0]) == kDefineEncoded) {
        definitions.ParseFromArray(record + 2, static_cast<int>(record[1]));
      } else if (OperationOf(record[0]) == kDefineStack) {
        format::Stack* stack = definitions.add_stacks();
        stack->set_id(RefOf(record[0]));
        for (size_t i = 2; i < words; ++i)
          stack->add_frames(static_cast<int64_t>(record[i] - (i > 2 ? record[i - 1] : 0)));
      }
      defined.Add(definitions, /*journal=*/true);
    });
  }
  for (int row = 0; row < checkpoint.shape_bytes_size(); ++row) {
    const int site = static_cast<int>(checkpoint.shape_site(row));
    if (checkpoint.site_kind(site) == format::DEVICE) add(checkpoint.shape_bytes(row), checkpoint.site_stack(site));
  }
  for (const format::Block& block : trace.blocks()) {
    if (block.generation() < base) continue;
    int rows = 0;
    for (const uint32_t shape : block.event_shape()) {
      const int row = shape == 0 ? rows++ : static_cast<int>(shape) - 1;
      if (block.shape_call(row) != (format::ALLOCATE | format::DEVICE << 4)) continue;
      add(At(block.shape_bytes(), row), row < block.shape_stack_size() ? block.shape_stack(row) : 0);
    }
  }
  for (const format::Journal& journal : trace.journals()) {
    EachRecord(journal, [&](const uint64_t* record, size_t) {
      if (OperationOf(record[0]) == schema::ALLOCATE && KindOf(record[0]) == schema::DEVICE) {
        add(record[3], RefOf(record[0]));
      }
    });
  }
  return out;
}

std::vector<std::string> CompareWithOracle(const PythonTrace& trace, const std::string& expected_path,
                                           size_t max_frames, size_t* stacks, size_t* frames) {
  std::vector<std::string> differences = trace.errors;
  *stacks = *frames = 0;
  std::ifstream in(expected_path);
  for (std::string line; std::getline(in, line) && differences.size() < 20;) {
    const auto expected = nlohmann::json::parse(line);
    const uint64_t bytes = expected[0];
    const auto found = trace.by_bytes.find(bytes);
    if (found == trace.by_bytes.end() || !found->second.joined) {
      differences.push_back(std::to_string(bytes) + " bytes: no Python stack");
      continue;
    }
    const std::vector<OraclePythonFrame>& got = found->second.python;
    const size_t whole = expected.size() - 1;
    const size_t wanted = whole < max_frames ? whole : max_frames;
    if (got.size() != wanted || found->second.truncated != (wanted < whole)) {
      differences.push_back(std::to_string(bytes) + " bytes: " + std::to_string(got.size()) + " frames instead of " +
                            std::to_string(wanted));
      continue;
    }
    ++*stacks;
    for (size_t i = 0; i < wanted; ++i, ++*frames) {
      const auto& frame = expected[i + 1];
      OraclePythonFrame want{frame[0], frame[1], frame[2], frame[3], false};
      if (want.instruction < 0) want.instruction = got[i].instruction;
      if (Text(want) == Text(got[i])) continue;
      differences.push_back(std::to_string(bytes) + " bytes, frame " + std::to_string(i) + ": " + Text(got[i]) +
                            " instead of " + Text(want));
      break;
    }
  }
  if (*stacks == 0) differences.push_back("nothing was compared");
  return differences;
}

}  // namespace vramtrack
