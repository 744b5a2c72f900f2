// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/leaks/pool_remarks.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "analyzer/ledger/kind.h"

namespace vramtrack {

void PinnedPoolGrowth::OnAllocate(const ReplayAllocation& allocated) {
  if (__builtin_expect(!IsPinnedByCalls(allocated.site.key.kind), 1)) return;
  const StreamEvent* event = ledger_->present_event();
  const Definitions& definitions = trace_.definitions();
  if (event == nullptr || allocated.site.key.stack != definitions.torch_pinned_pool()) return;
  ++by_stack_[definitions.stacks.Distinct(event->shape->ref)];
}

void AddPoolRemark(const PinnedPoolGrowth& growth, const SiteKey& key, StackSymbolizer* symbolizer, ReportSite* site) {
  if (key.kind == schema::GRAPH_POOL) {
    absl::StrAppend(&site->explanation,
                    "; these are segments of CUDA graphs' private memory pools, which the allocator cannot use for "
                    "anything else as long as the graphs are kept");
    return;
  }
  if (!symbolizer->IsPinnedPool(key.stack)) return;
  // Lines, by how often they made the pool grow.
  std::map<std::string, uint64_t> lines;
  uint64_t grown = 0;
  for (const auto& [stack, times] : growth.by_stack()) {
    grown += times;
    for (const ReportFrame& frame : symbolizer->Frames(stack)) {
      if (frame.language != Language::kPython || frame.installed || frame.origin != ReportFrame::Origin::kJob) continue;
      const std::string& file = frame.shown_file.empty() ? frame.file : frame.shown_file;
      lines[absl::StrCat(file, ":", frame.line, " in ", frame.function)] += times;
      break;
    }
  }
  absl::StrAppend(
      &site->explanation,
      "; which line keeps the blocks is not known, because PyTorch does not report the blocks of this pool, "
      "only the pool's requests to CUDA are seen");
  const auto most =
      std::max_element(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == lines.end()) return;
  absl::StrAppend(&site->explanation, "; ", most->second, " of ", grown, " times the pool grew for ", most->first,
                  lines.size() > 1 ? absl::StrCat(", otherwise for ", lines.size() - 1, " other lines") : "");
}

}  // namespace vramtrack
