// SPDX-License-Identifier: Apache-2.0
//
// Checks that the ledger's sums are consistent for arbitrary events.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "analyzer/ingest/testing/fuzz_file.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/ledger/site_histories.h"
#include "analyzer/peaks/counterfactual.h"
#include "analyzer/peaks/failure_log.h"
#include "analyzer/peaks/timeline.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace vramtrack;
  const std::string file = FileOfFuzzInput(data, size);
  absl::StatusOr<std::unique_ptr<Trace>> trace = Trace::Read(file, "fuzz");
  if (!trace.ok()) return 0;
  StepPlan plan;
  plan.mark_slot = ThreadSlot(0);
  LedgerOptions options;
  Counterfactual counterfactual;
  counterfactual.Watch({SiteIndex(0), SiteIndex(1)});
  counterfactual.Watch({SiteIndex(2)});
  SiteHistories histories;
  LevelTimeline timeline(**trace);
  FailureLog failures(**trace);
  options.observers = {&counterfactual, &histories, &timeline, &failures};
  Ledger ledger(**trace, plan, options);
  ledger.Replay();
  uint64_t objects = 0;
  std::vector<uint64_t> live(ledger.scopes().size());
  for (const SiteIndex i : ledger.sites().indices()) {
    const Site& site = ledger.sites()[i];
    objects += site.live_objects;
    if (site.scope != Site::kNoScope) live[site.scope] += site.live_bytes;
    if (site.allocations != site.frees + site.live_objects) std::abort();
    histories.history(i);
  }
  if (objects != ledger.live_objects()) std::abort();
  for (size_t i = 0; i < live.size(); ++i) {
    if (live[i] != ledger.scopes()[i].live) std::abort();
  }
  return 0;
}
