// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/unseen_blocks.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/base/quantity.h"
#include "analyzer/ledger/kind.h"
#include "analyzer/symbols/affix.h"

namespace vramtrack {
namespace {

struct Divider {
  std::string_view library;  // the beginning of its name
  const char* setting;       // what makes it allocate each block from CUDA
};
constexpr Divider kDividers[] = {
    {"xla_cuda_plugin", "run with XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async"},
    {"xla_extension", "run with XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async"},
    {"libtensorflow", "run with TF_GPU_ALLOCATOR=cuda_malloc_async"},
    {"librmm", "use rmm.mr.CudaAsyncMemoryResource"},
    {"libonnxruntime_providers_cuda", "set its option arena_extend_strategy to kSameAsRequested"},
};

// Larger pieces than these, and no more of them, are what pools are made of.
constexpr uint64_t kLeastPiece = 64 << 20, kMostPieces = 64;
// Less of the device's peak does not matter.
constexpr uint64_t kLeastPart = 20;

// Whether the blocks of a library's allocator are in the trace.
bool AreSeen(const Definitions& definitions, std::string_view library) {
  return std::any_of(definitions.allocators.begin(), definitions.allocators.end(),
                     [library](const TracedAllocator& allocator) { return allocator.name == library; });
}

const Divider* DividerOf(std::string_view owner) {
  const auto* const found = std::find_if(std::begin(kDividers), std::end(kDividers), [owner](const Divider& divider) {
    return StartsWith(owner, divider.library);
  });
  return found == std::end(kDividers) ? nullptr : found;
}

}  // namespace

std::vector<std::string> UnseenBlocks(ProcessAnalysis* analysis) {
  struct Held {
    uint64_t bytes = 0, pieces = 0;
  };
  const Ledger& ledger = analysis->ledger();
  std::map<std::pair<uint32_t, std::string>, Held> held;  // by scope and owner
  for (const Site& site : ledger.sites()) {
    if (site.scope == Site::kNoScope || !ledger.scopes()[site.scope].is_device()) continue;
    // Blocks of CUDA's own pools.
    const uint32_t kind = site.key.kind;
    if (kind == schema::STREAM_ORDERED || kind == schema::POOL || kind == schema::GRAPH_MEMORY) continue;
    // What has turned out to hold blocks is divided already.
    const uint64_t bytes = site.bytes_at_peak - std::min(site.bytes_at_peak, site.segment_bytes_at_peak);
    if (bytes == 0) continue;
    std::string owner = analysis->symbolizer().Owner(site.key.stack);
    if (DividerOf(owner) == nullptr || AreSeen(analysis->trace().definitions(), owner)) continue;
    Held& sum = held[{site.scope, std::move(owner)}];
    sum.bytes += bytes;
    sum.pieces += site.allocations;
  }
  std::vector<std::string> sentences;
  for (const auto& [of, sum] : held) {
    const Scope& scope = ledger.scopes()[of.first];
    if (sum.pieces > kMostPieces || sum.bytes / sum.pieces < kLeastPiece) continue;
    if (sum.bytes < scope.peak / kLeastPart) continue;
    sentences.push_back(absl::StrCat(
        of.second, " holds ", FormatByteCount(static_cast<double>(sum.bytes)), " of device ", scope.device.value(),
        ", and what it does with it is not seen: ", DividerOf(of.second)->setting, " to see its blocks"));
  }
  return sentences;
}

}  // namespace vramtrack
