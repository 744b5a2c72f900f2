// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/text/event_words.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "analyzer/base/display_text.h"
#include "analyzer/ledger/kind.h"
#include "proto/pool_setting.h"
#include "proto/schema_constants.h"

namespace vramtrack {

std::string OperationName(uint32_t operation) {
  const char* name = schema::OperationName(operation);
  return name != nullptr ? name : "operation " + std::to_string(operation);
}

std::string KindNameOf(uint32_t operation, uint32_t kind) {
  if (operation == schema::MARK) {
    const char* name = schema::MarkKindName(kind);
    return name != nullptr ? std::string(absl::StripPrefix(name, "mark_")) : "";
  }
  return kind == schema::KIND_NONE ? "" : KindName(kind);
}

std::string EventDetails(const Trace& trace, const StreamEvent& event) {
  switch (event.operation) {
    case schema::ALLOCATE: {
      const uint32_t kind = event.shape->kind;
      const bool captured = IsGraphPool(kind) || kind == schema::GRAPH || kind == schema::GRAPH_EXEC;
      return captured && event.shape->stream != 0 ? absl::StrCat("capture ", event.shape->stream) : "";
    }
    case schema::FREE_UNKNOWN:
      // One that was recorded as the free of a known allocation has no address.
      return event.shape->operation == schema::FREE ? "its allocation is not in the trace" : "";
    case schema::FAIL:
      return absl::StrCat("error ", event.value[0]);
    case schema::STEP: {
      double value;
      std::memcpy(&value, &event.value[1], sizeof value);
      return absl::StrCat("step ", event.value[0], value == 0 ? "" : absl::StrCat(" value ", value));
    }
    case schema::FOLD_ALLOCATE:
    case schema::FOLD_FREE:
      return absl::StrCat(event.value[0], " allocations in sum", event.ordinal == 0 ? ", freed soon after" : "");
    case schema::MEMORY_INFO:
      return absl::StrCat("free ", event.value[0], " total ", event.value[1]);
    case schema::TRIM:
      return absl::StrCat(event.value[0] == 0 ? "" : absl::StrFormat("pool 0x%x ", event.value[0]), "to ",
                          event.value[1]);
    case schema::FRAMEWORK_MEMORY:
      return absl::StrCat("given out ", event.value[0], " reserved ", event.value[1]);
    case schema::MARK: {
      const auto& names = trace.definitions().names;
      const auto name = names.find(static_cast<uint32_t>(event.value[0]));
      return absl::StrCat(name == names.end() ? "" : Printable(name->second),
                          event.value[1] == 0 ? "" : absl::StrCat(" ", event.value[1]));
    }
    case schema::LIMIT:
      if (event.shape->kind == schema::MEMORY_POOL) {
        return absl::StrFormat("pool 0x%x attribute %d to %d", PoolOf(event.value[0]), AttributeOf(event.value[0]),
                               event.value[1]);
      }
      return absl::StrCat("limit ", event.value[0], " to ", event.value[1]);
    default:
      return "";
  }
}

bool HasStack(uint32_t operation) {
  return operation == schema::ALLOCATE || operation == schema::FAIL || operation == schema::STEP ||
         operation == schema::LIMIT || operation == schema::MARK || operation == schema::FOLD_ALLOCATE ||
         operation == schema::FOLD_FREE;
}

}  // namespace vramtrack
