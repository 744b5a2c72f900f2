// SPDX-License-Identifier: Apache-2.0
//
// Whatever events a trace holds, the books add up.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "analyzer/ingest/testing/fuzz_file.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/ledger/ledger.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace vramtrack;
  const std::string file = FileOfFuzzInput(data, size);
  absl::StatusOr<std::unique_ptr<Trace>> trace = Trace::Read(file, "fuzz");
  if (!trace.ok()) return 0;
  StepPlan plan;
  plan.mark_slot = 0;
  LedgerOptions options;
  options.watched = {{0, 1}, {2}};
  Ledger ledger(**trace, plan, options);
  ledger.Replay();
  uint64_t objects = 0;
  std::vector<uint64_t> live(ledger.scopes().size());
  for (uint32_t i = 0; i < ledger.sites().size(); ++i) {
    const Site& site = ledger.sites()[i];
    objects += site.live_objects;
    if (site.scope != Site::kNoScope) live[site.scope] += site.live_bytes;
    if (site.allocations != site.frees + site.live_objects) std::abort();
    ledger.history(i);
  }
  if (objects != ledger.live_objects()) std::abort();
  for (size_t i = 0; i < live.size(); ++i) {
    if (live[i] != ledger.scopes()[i].live) std::abort();
  }
  return 0;
}
