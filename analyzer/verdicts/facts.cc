// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdicts/facts.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "analyzer/attribution/library.h"
#include "analyzer/base/affix.h"
#include "analyzer/base/quantity.h"
#include "analyzer/holders/site_holder.h"
#include "analyzer/leaks/births.h"
#include "analyzer/leaks/growth.h"
#include "analyzer/leaks/reserve_growth.h"
#include "analyzer/model/frame_text.h"
#include "analyzer/steps/step_choice.h"

namespace vramtrack {
namespace {

// At least half of something is most of it.
constexpr double kMost = 0.5;
// Lines that shrink this many times as fast as others leak do so for another reason.
constexpr double kOtherReason = 10;
// Fewer objects do not make a pattern.
constexpr uint64_t kFewest = 5;
constexpr size_t kFewestMoves = 4;
// A job works on after its steps if it makes this share of its allocations then, or goes on for so many times as long.
constexpr double kMuchWork = 0.1, kMuchLonger = 20, kFewestSeconds = 1;
// A loop that makes one result replaces it in nearly all rounds.
constexpr double kNearlyAll = 0.9;
// What grows along with something else grows by this share of what it grows by.
constexpr double kGrowsAlong = 0.3;
constexpr size_t kFewestAlong = 3;
// Inputs reach this share of what allocates in most steps.
constexpr double kManyAlong = 0.25;
// Losses come in blocks, so that they vary by more than their square root.
constexpr double kDeviations = 3;

bool IsWindows(const RunPhase& phase) { return phase.kind == PlannedPhase::Kind::kWindows; }

bool LostFrees(const FactFinder& facts, const LineVerdict& verdict, std::string* /*detail*/) {
  const double share = std::min(facts.LostShare(verdict), 0.999);
  if (share <= 0 || verdict.judgement.replaced) return false;
  const double lost = static_cast<double>(verdict.judgement.history.died_objects) * share / (1 - share);
  return lost > 0 && static_cast<double>(verdict.judgement.left.objects) <= lost + kDeviations * std::sqrt(lost);
}

bool OfLibraryPool(const FactFinder& facts, const LineVerdict& verdict, std::string* detail) {
  const SiteKey& key = facts.MainSite(verdict).key;
  // Each allocation from CUDA's own pools is seen.
  if (LevelOf(key.kind) != Level::kDriver || IsStreamOrdered(key.kind)) return false;
  const LibraryPool* pool = LibraryPoolOf(facts.run().raw->Frames(key.stack));
  if (pool == nullptr) return false;
  *detail = absl::StrCat(pool->name, " takes more memory, but its blocks are not traced (", pool->setting,
                         " to trace its ", pool->blocks, ")");
  return true;
}

bool WithoutSteps(const FactFinder& facts, const LineVerdict& verdict, std::string* /*detail*/) {
  const RunPhase& phase = facts.PhaseOf(verdict);
  return IsWindows(phase) && (phase.follows || facts.run().ledger.steps().plan().rough);
}

bool AfterTraining(const FactFinder& facts, const LineVerdict& verdict, std::string* /*detail*/) {
  return facts.PhaseOf(verdict).after_training;
}

bool FreedInTurn(const FactFinder& facts, const LineVerdict& verdict, std::string* /*detail*/) {
  if (verdict.judgement.replaced) return false;
  const uint64_t freed = facts.FreedInTurn(verdict.parts);
  const auto left = static_cast<double>(verdict.judgement.history.live_objects());
  return freed >= kFewest && static_cast<double>(freed) >= kMost * left;
}

bool LoopWasOver(const FactFinder& facts, const LineVerdict& verdict, std::string* /*detail*/) {
  const RunPhase& phase = facts.PhaseOf(verdict);
  if (phase.source != StepSource::kPeriodicity || phase.ended || !facts.GoesOn(verdict)) return false;
  uint64_t allocations = 0, born = 0;
  for (const SiteIndex site : verdict.parts) {
    allocations += facts.run().ledger.sites()[site].allocations;
    born += facts.run().histories.history(site).born_objects;
  }
  // It allocates no more after the last step than in one or two.
  const uint64_t after = allocations - std::min(born, allocations), steps = phase.steps.size();
  return steps > 0 && after * steps <= 2 * born + steps;
}

bool Gathered(const FactFinder& facts, const LineVerdict& verdict, std::string* /*detail*/) {
  if (verdict.judgement.replaced) return false;
  uint64_t gathered = 0, live = 0;
  for (const SiteIndex site : verdict.parts) {
    const uint64_t bytes = facts.run().histories.history(site).live_bytes();
    live += bytes;
    if (facts.run().gathered.Has(site)) gathered += bytes;
  }
  return live > 0 && static_cast<double>(gathered) >= kMost * static_cast<double>(live);
}

bool BelowLimit(const FactFinder& facts, const LineVerdict& verdict, std::string* detail) {
  const ReplayedRun& run = facts.run();
  if (run.walks.all().empty() || verdict.judgement.replaced) return false;
  const std::optional<SiteHolder> holder = HolderOf(verdict.parts, run.walks, run.walked_blocks, /*leak=*/true);
  if (!holder) return false;
  uint64_t live = 0;
  for (const SiteIndex site : verdict.parts) live += run.ledger.sites()[site].live_objects;
  *detail = WhyGrowthMayEnd(*holder, live, run.ledger.DeviceBytes(facts.BookOf(verdict).device));
  return !detail->empty();
}

bool InOneLoop(const FactFinder& facts, const LineVerdict& verdict, std::string* /*detail*/) {
  const RunPhase& phase = facts.PhaseOf(verdict);
  const Judgement& judgement = verdict.judgement;
  if (phase.source != StepSource::kPeriodicity || !judgement.replaced || judgement.onset) return false;
  if (!judgement.by_size()) return false;
  return judgement.history.birth_steps >= kNearlyAll * phase.steps.size();
}

bool WithInputs(const FactFinder& facts, const LineVerdict& verdict, std::string* /*detail*/) {
  return verdict.judgement.replaced && facts.GrowsWithInputs(verdict);
}

bool MadeUpFor(const FactFinder& facts, const LineVerdict& verdict, std::string* /*detail*/) {
  const double shrunk = facts.ShrunkIn(verdict.line.book), leaked = facts.LeakedIn(verdict.line.book);
  return shrunk >= kMost * leaked && shrunk <= kOtherReason * leaked;
}

}  // namespace

const std::vector<Fact>& LineFacts() {
  static const std::vector<Fact> facts = {
      {"lost_frees", LostFrees, "the trace lost events, and these objects may have been freed in them"},
      {"library_pool", OfLibraryPool, "%"},
      {"no_steps_there", WithoutSteps,
       "memory grows in a part of the run that has no steps, and may be set-up; call vramtrack_step() once a step"},
      {"after_training", AfterTraining,
       "memory grows only after the last training step, as when an evaluation collects results"},
      {"freed_in_turn", FreedInTurn, "the objects were freed one by one after the last step, while the job went on"},
      {"loop_over", LoopWasOver,
       "the growing loop ended long before the job, and may have loaded data; call vramtrack_step() once a step"},
      {"gathered", Gathered, "a loop collects results: a block as large as all of them was allocated after it"},
      {"limit", BelowLimit, "%"},
      {"one_loop", InOneLoop,
       "steps are known only by repeated allocations, so this may be one loop that grows until it ends, like the cache "
       "of one generated text; call vramtrack_step() once a request"},
      {"inputs", WithInputs, "what the steps allocate before it grows alike, as when inputs become longer or more"},
      {"made_up_for", MadeUpFor, "older memory is freed at the same rate, so this may take its place"},
  };
  return facts;
}

namespace {

bool HasPython(const ReplayedRun& run) {
  // The program says so, too, where no Python frames were recorded.
  const std::string& program = run.trace.definitions().process.executable;
  if (program.find("python", program.rfind('/') + 1) != std::string::npos) return true;
  const Sites& sites = run.ledger.sites();
  return std::any_of(sites.begin(), sites.end(), [&run](const Site& site) {
    return run.trace.definitions().stacks.Get(site.key.stack).python.count > 0;
  });
}

// Advice names the call of the program's own language.
std::string WithCall(std::string sentence, bool python) {
  return python ? absl::StrReplaceAll(sentence, {{"vramtrack_step()", "vramtrack.step()"}}) : sentence;
}

}  // namespace

void ApplyFacts(const FactFinder& facts, LineVerdict* verdict) {
  if (!verdict->leaks()) return;
  for (const Fact& fact : LineFacts()) {
    if (fact.id == facts.run().without_fact) continue;
    std::string detail;
    if (!fact.holds(facts, *verdict, &detail)) continue;
    verdict->verdict = Verdict::kInsufficientEvidence;
    verdict->reason = &fact;
    verdict->why = WithCall(absl::StrReplaceAll(fact.sentence, {{"%", detail}}), facts.in_python());
    return;
  }
}

namespace {

// What facts about a whole run are asked of.
struct RunCase {
  const ReplayedRun& run;
  const RunVerdicts& verdicts;
  const RunShape& shape;

  const StepPlan& plan() const { return run.ledger.steps().plan(); }
  bool without_steps() const { return shape.steps == 0 || plan().rough; }
};

using Sentences = std::vector<std::string>;

struct Divider {
  std::string_view library;  // the beginning of its name
  const char* setting;       // what makes it allocate each block from CUDA
};
constexpr Divider kDividers[] = {
    {"xla_cuda_plugin", "run with XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async"},
    {"xla_extension", "run with XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async"},
    {"libtensorflow", "run with TF_GPU_ALLOCATOR=cuda_malloc_async"},
    {"librmm", kRmmSetting},
    {"libonnxruntime_providers_cuda", "set its option arena_extend_strategy to kSameAsRequested"},
};
// Pools consist of few pieces, each at least so large. A smaller part of the device's peak does not matter.
constexpr uint64_t kLeastPiece = 64 << 20, kMostPieces = 64, kLeastPart = 20;

const Divider* DividerOf(std::string_view owner) {
  const auto* const found = std::find_if(std::begin(kDividers), std::end(kDividers), [owner](const Divider& divider) {
    return StartsWith(owner, divider.library);
  });
  return found == std::end(kDividers) ? nullptr : found;
}

// Libraries that divide much of a device themselves: docs/frameworks.md.
Sentences UntracedBlocks(const RunCase& of) {
  struct Held {
    uint64_t bytes = 0, pieces = 0;
  };
  const auto& allocators = of.run.trace.definitions().allocators;
  std::map<std::pair<uint32_t, std::string>, Held> held;  // by scope and owner
  for (const Site& site : of.run.ledger.sites()) {
    if (site.scope == Site::kNoScope || !of.run.ledger.scopes()[site.scope].is_device()) continue;
    if (IsStreamOrdered(site.key.kind) || site.key.kind == schema::GRAPH_MEMORY) continue;
    // What has turned out to contain blocks is traced.
    const uint64_t bytes = site.bytes_at_peak - std::min(site.bytes_at_peak, site.segment_bytes_at_peak);
    if (bytes == 0) continue;
    std::string owner = of.run.symbolizer->Owner(site.key.stack);
    const bool traced = std::any_of(allocators.begin(), allocators.end(),
                                    [&owner](const TracedAllocator& allocator) { return allocator.name == owner; });
    if (DividerOf(owner) == nullptr || traced) continue;
    Held& sum = held[{site.scope, std::move(owner)}];
    sum.bytes += bytes;
    sum.pieces += site.allocations;
  }
  Sentences sentences;
  for (const auto& [by, sum] : held) {
    const Scope& scope = of.run.ledger.scopes()[by.first];
    if (sum.pieces > kMostPieces || sum.bytes / sum.pieces < kLeastPiece) continue;
    if (sum.bytes < scope.peak / kLeastPart) continue;
    sentences.push_back(absl::StrCat(
        by.second, " holds ", FormatByteCount(static_cast<double>(sum.bytes)), " of device ", scope.device.value(),
        ", and allocations inside it are not traced: ", DividerOf(by.second)->setting, " to trace its blocks"));
  }
  return sentences;
}

// CUDA graphs were made after the last of few steps, and none before it.
Sentences StepsInGraphs(const RunCase& of) {
  bool made = false;
  for (const SiteIndex i : of.run.ledger.sites().indices()) {
    const Site& site = of.run.ledger.sites()[i];
    if (site.key.kind != schema::GRAPH_EXEC || site.allocations == 0) continue;
    if (of.shape.steps > 0 && of.run.histories.history(i).born_objects > 0) return {};
    made = true;
  }
  if (!made || of.shape.steps >= kEnoughSteps) return {};
  return {
      "after its last step the job made a CUDA graph, and replayed steps cannot be detected, as they allocate nothing: "
      "call vramtrack_step(), or push an NVTX range, once a step"};
}

Sentences NoSteps(const RunCase& of) {
  if (of.shape.steps > 0) return {};
  return {"no steps were found, so growth per step is unknown; call vramtrack_step() once a step"};
}

Sentences FewAllocations(const RunCase& of) {
  if (!of.plan().rough) return {};
  return {"no steps were found, and too little is allocated to do without them; call vramtrack_step() once a step"};
}

// Even a leak in every step would look like set-up.
Sentences FewSteps(const RunCase& of) {
  if (of.shape.steps == 0 || of.shape.windows || of.verdicts.rarest_leak > 0) return {};
  if (std::any_of(of.verdicts.lines.begin(), of.verdicts.lines.end(),
                  [](const LineVerdict& line) { return line.leaks(); })) {
    return {};
  }
  return {absl::StrCat(Plural(of.shape.steps, "step is", "steps are"),
                       " too few: a leak in every step would look like set-up")};
}

// Fewer objects in a whole run are one-offs. Parts of the run of less than this share do not matter.
constexpr uint64_t kFewestRepeats = 4;
constexpr double kLeastShare = 0.05;
// A part of the run that is not judged does not matter while it is smaller than the rest.
constexpr double kLeastJudged = 0.5;
constexpr Step kFewSteps = 10;

Sentences Incomplete(const RunCase& of) {
  const std::string why = WhyIncomplete(of.run.trace, of.run.ledger);
  if (why.empty()) return {};
  return {IncompleteRecord(why).sentence};
}

// A site may have kept memory repeatedly where no steps are known. The first step begins with the run, so it has the
// set-up too.
bool MayKeepOutsideSteps(const RunCase& of) {
  const Sites& sites = of.run.ledger.sites();
  for (const SiteIndex i : sites.indices()) {
    if (LevelOf(sites[i]) == Level::kHandle) continue;
    const SiteHistory history = of.run.histories.history(i);
    if (sites[i].allocations >= history.born_objects + kFewestRepeats) return true;
    const bool has_first = !history.cohorts.empty() && history.cohorts[0].step == 0;
    if (has_first && history.cohorts[0].live_objects >= kFewestRepeats) return true;
  }
  return false;
}

Sentences Uncovered(const RunCase& of) {
  if (of.shape.steps == 0 || of.plan().judged >= kLeastJudged) return {};
  if (of.shape.steps >= kFewSteps && !MayKeepOutsideSteps(of)) return {};
  return {absl::StrFormat("the %s cover only %.0f %% of the run: a leak in the rest would not be seen",
                          of.plan().has_windows() ? "windows" : "steps that were found", 100 * of.plan().judged)};
}

// A part of the run that has neither steps nor windows is not judged.
Sentences KeptOutsideSteps(const RunCase& of) {
  size_t kept = 0;
  for (const LineVerdict& line : of.verdicts.lines) {
    if (line.leaks() || line.unsure()) continue;
    uint64_t objects = 0;
    for (const RunPhase& phase : of.verdicts.phases) {
      if (phase.kind != PlannedPhase::Kind::kUnjudged || !phase.follows || phase.share < kLeastShare) continue;
      for (const SiteIndex site : line.parts) {
        for (const Cohort& cohort : of.run.histories.history(site).cohorts) {
          if (cohort.step >= phase.steps.begin && cohort.step < phase.steps.end) objects += cohort.live_objects;
        }
      }
    }
    kept += objects >= kFewestRepeats;
  }
  if (kept == 0) return {};
  return {absl::StrCat(Plural(kept, "line", "lines"),
                       " kept what was allocated where no steps were found: call vramtrack_step() once a step")};
}

// Of what the first judged step needed, the last ones need so much more. The rise must go on in the last third, and
// what stays must not grow as fast.
constexpr double kLeastRise = 0.02, kStillRising = 0.5;
constexpr size_t kLeastRises = 5;
// Objects of a line that became this much larger on average.
constexpr double kLarger = 1.1;

// Empty without a stack.
std::string LineOf(const RunCase& of, SiteIndex site) {
  const std::vector<ReportFrame> frames = of.run.symbolizer->Frames(of.run.ledger.sites()[site].key.stack);
  if (frames.empty()) return "";
  const ReportFrame& frame = frames[OwnFrame(frames).value_or(0)];
  return FrameLocation(frame) + FunctionBehindLocation(frame);
}

// The line whose objects grew most, as far as they are live at the peak.
std::string LargerLine(const RunCase& of, DeviceIndex device) {
  const Sites& sites = of.run.ledger.sites();
  SiteIndex most;
  double grown = 0;
  for (const SiteIndex i : sites.indices()) {
    if (sites[i].key.device != device || sites[i].scope == Site::kNoScope || IsSegmentSite(sites[i])) continue;
    const double ratio = SizeRatio(of.run.histories.births(i), of.shape.steps);
    const double larger = ratio < kLarger ? 0 : static_cast<double>(sites[i].bytes_at_peak) * (1 - 1 / ratio);
    if (larger <= grown) continue;
    grown = larger;
    most = i;
  }
  const std::string line = most.is_none() ? "" : LineOf(of, most);
  return line.empty() ? "" : "; most is of objects that get larger, from " + line;
}

// A job that needs more memory in each step although it keeps nothing: inputs get longer, or a buffer is freed and made
// again, larger each time.
Sentences RisingPeaks(const RunCase& of) {
  Sentences sentences;
  for (const Scope& scope : of.run.ledger.scopes()) {
    if (!scope.is_leading() || of.plan().has_windows()) continue;
    const LevelSeries peaks = SeriesOf(scope.ceilings, scope.ceilings);
    const size_t steps = peaks.low.size(), first = of.shape.warmup_end;
    if (steps < first + 3 * kMinGrowthSteps) continue;
    const std::optional<FittedGrowth> whole = FitGrowth(peaks, first);
    const std::optional<FittedGrowth> late = FitGrowth(peaks, steps - (steps - first) / 3);
    if (!whole || !late || whole->ci_low <= 0 || whole->rises < kLeastRises) continue;
    if (late->ci_low <= 0 || late->bytes_per_step < kStillRising * whole->bytes_per_step) continue;
    const std::optional<FittedGrowth> kept = FitGrowth(SeriesOf(scope.floors, scope.floors), first);
    if (kept && kept->bytes_per_step > kMost * whole->bytes_per_step) continue;
    if (whole->bytes_per_step * static_cast<double>(steps - first) < kLeastRise * peaks.low[first]) continue;
    if (!IsMaterial({whole->bytes_per_step, 0, {}, {}}, of.run.horizon_steps,
                    of.run.ledger.DeviceBytes(scope.device))) {
      continue;
    }
    sentences.push_back(absl::StrCat("steps on device ", scope.device.value(),
                                     " need more and more memory: ", FormatByteCount(whole->bytes_per_step),
                                     " per step, although none is retained", LargerLine(of, scope.device)));
  }
  return sentences;
}

// The line that asked for most of the segments that came since then and stayed.
std::string LineOfSegments(const RunCase& of, DeviceIndex device, Step first) {
  SiteIndex most;
  uint64_t bytes = 0;
  for (const SiteIndex i : of.run.ledger.sites().indices()) {
    const Site& site = of.run.ledger.sites()[i];
    if (site.key.device != device || !IsSegmentSite(site)) continue;
    uint64_t kept = 0;
    for (const Cohort& cohort : of.run.histories.history(i).cohorts) {
      if (cohort.step >= first) kept += cohort.live_bytes;
    }
    if (kept <= bytes) continue;
    bytes = kept;
    most = i;
  }
  return most.is_none() ? "" : LineOf(of, most);
}

// Nothing leaks, and yet the device will be full.
Sentences RisingReserve(const RunCase& of) {
  Sentences sentences;
  for (const Scope& scope : of.run.ledger.scopes()) {
    if (scope.level != Level::kFramework || of.plan().has_windows()) continue;
    const std::optional<ReserveGrowth> growth =
        JudgeReserve(SeriesOf(scope.reserved_floors, scope.reserved_floors), SeriesOf(scope.ceilings, scope.ceilings),
                     of.shape.warmup_end);
    if (!growth) continue;
    const double rate = growth->unused.bytes_per_step;
    const uint64_t total = of.run.ledger.DeviceBytes(scope.device);
    if (!IsMaterial({rate, 0, {}, {}}, of.run.horizon_steps, total)) continue;
    const uint64_t reserved = scope.reserved_floors.back();
    const std::string full = total > reserved ? FormatTimeToFull(static_cast<double>(total - reserved) / rate) : "";
    const std::string line = LineOfSegments(of, scope.device, growth->first);
    sentences.push_back(absl::StrCat(
        line.empty() ? "" : line + ": ", "the framework's allocator reserves ", FormatByteCount(rate),
        " more per step on device ", scope.device.value(), " than it uses",
        full.empty() ? "" : "; the device is " + full,
        ". Live memory does not grow: what other streams, CUDA graphs, MemPools or sizes left is not reused"));
  }
  return sentences;
}

struct RunFact {
  const char* id;
  Sentences (*sentences)(const RunCase& of);
};
constexpr RunFact kRunFacts[] = {
    {"incomplete", Incomplete},
    {"no_steps", NoSteps},
    {"few_allocations", FewAllocations},
    {"few_steps", FewSteps},
    {"untraced_blocks", UntracedBlocks},
    {"steps_in_graphs", StepsInGraphs},
    {"uncovered", Uncovered},
    {"kept_outside_steps", KeptOutsideSteps},
    {"rising_peaks", RisingPeaks},
    {"rising_reserve", RisingReserve},
};

}  // namespace

// Of a process that was killed, everything up to its end is there.
std::string WhyIncomplete(const Trace& trace, const Ledger& ledger) {
  const bool stopped = trace.counter(schema::COUNTER_STOP_REASON) != schema::STOP_NONE;
  // Nobody knows what was in damaged bytes.
  const bool damaged = !trace.damage().empty() || !trace.HasBeginning();
  return stopped || damaged || ledger.lost_share() >= kLeastShare ? trace.IncompleteWhy() : "";
}

Reason IncompleteRecord(const std::string& why) {
  return {"incomplete",
          absl::StrCat("the record is not complete (", why, "): a leak in what is missing would not be seen")};
}

std::vector<Reason> RunReasons(const ReplayedRun& run, const RunVerdicts& verdicts, const RunShape& shape) {
  std::vector<Reason> reasons;
  const bool python = HasPython(run);
  for (const RunFact& fact : kRunFacts) {
    if (fact.id == run.without_fact) continue;
    for (std::string& sentence : fact.sentences({run, verdicts, shape})) {
      reasons.push_back({fact.id, WithCall(std::move(sentence), python)});
    }
  }
  return reasons;
}

std::vector<const char*> RunFactIds() {
  std::vector<const char*> ids;
  for (const RunFact& fact : kRunFacts) ids.push_back(fact.id);
  return ids;
}

FactFinder::FactFinder(const ReplayedRun& run, const std::vector<RunPhase>& phases)
    : run_(run), phases_(phases), in_python_(HasPython(run)) {
  uint64_t allocations = 0;
  for (const Site& site : run.ledger.sites()) allocations += LevelOf(site) == Level::kHandle ? 0 : site.allocations;
  const uint64_t after = run.order.allocations_after_steps();
  const double in_steps = static_cast<double>(allocations - std::min(allocations, after));
  works_on_ = after >= kFewest && static_cast<double>(after) >= kMuchWork * in_steps;
  const std::vector<uint64_t>& ends = run.ledger.step_ends();
  if (ends.empty()) return;
  const auto steps = static_cast<double>(ends.back() - ends.front());
  const auto rest = static_cast<double>(run.order.active_until() - std::min(run.order.active_until(), ends.back()));
  lasts_longer_ = rest >= kMuchLonger * steps && rest >= kFewestSeconds * run.trace.clock().ticks_per_second();
}

void FactFinder::LookAt(const std::vector<LineVerdict>& verdicts) {
  shrunk_.clear();
  leaked_.clear();
  regular_.clear();
  std::set<SiteIndex> leaking;
  bool grows = false;
  for (const LineVerdict& verdict : verdicts) {
    const Judgement& judgement = verdict.judgement;
    const size_t moves = judgement.windows.empty() ? 0 : judgement.windows.size() - 1;
    if (verdict.leaks() && moves > 0) {
      const double rate = std::max(judgement.rate.bytes_per_step, judgement.rate.objects_per_step);
      leaked_[verdict.line.book] += rate * (judgement.window_steps.back() - judgement.window_steps.front());
    } else if (judgement.rises == 0 && moves >= kFewestMoves && 4 * static_cast<size_t>(judgement.falls) >= 3 * moves) {
      shrunk_[verdict.line.book] -= judgement.gain();
    }
    if (!verdict.leaks()) continue;
    leaking.insert(verdict.parts.begin(), verdict.parts.end());
    grows |= judgement.replaced;
  }
  if (!grows) return;  // only of growing buffers it is asked what grows along
  for (const SiteIndex site : run_.ledger.sites().indices()) {
    if (leaking.count(site) > 0) continue;
    if (2 * uint64_t{run_.histories.history(site).birth_steps} < run_.ledger.steps().step()) continue;
    const Sizes sizes = SizesOf({site});
    if (sizes.bytes > 0) regular_[run_.growth.BookOf(site)].push_back({site, sizes});
  }
}

const Site& FactFinder::MainSite(const LineVerdict& verdict) const {
  const std::vector<SiteIndex>& sites = verdict.parts.empty() ? verdict.line.sites : verdict.parts;
  const Sites& all = run_.ledger.sites();
  return all[*std::max_element(sites.begin(), sites.end(),
                               [&](SiteIndex a, SiteIndex b) { return all[a].live_bytes < all[b].live_bytes; })];
}

uint64_t FactFinder::FreedInTurn(const std::vector<SiteIndex>& sites) const {
  uint64_t freed = 0, before = 0;
  for (const SiteOrder::Release& release : run_.order.released()) {
    if (!std::binary_search(sites.begin(), sites.end(), release.site)) continue;
    freed += release.allocations > before;
    before = release.allocations;
  }
  return freed;
}

// Python may take its time before it frees what a program has left.
bool FactFinder::GoesOn(const LineVerdict& verdict) const {
  const StackIndex stack = MainSite(verdict).key.stack;
  return works_on_ || (lasts_longer_ && run_.trace.definitions().stacks.Get(stack).python.count == 0);
}

namespace {

double At(const std::map<uint32_t, double>& by_book, uint32_t book) {
  const auto found = by_book.find(book);
  return found == by_book.end() ? 0 : found->second;
}

}  // namespace

double FactFinder::ShrunkIn(uint32_t book) const { return At(shrunk_, book); }
double FactFinder::LeakedIn(uint32_t book) const { return At(leaked_, book); }

FactFinder::Sizes FactFinder::SizesOf(const std::vector<SiteIndex>& sites) const {
  BirthTotals sum;
  for (const SiteIndex site : sites) AddBirths(run_.histories.births(site), &sum);
  const Step steps = run_.ledger.steps().step();
  return {SizeRatio(sum, steps), NumberRatio(sum, steps)};
}

bool FactFinder::GrowsWithInputs(const LineVerdict& verdict) const {
  const auto found = regular_.find(verdict.line.book);
  if (found == regular_.end()) return false;
  const Sizes own = SizesOf(verdict.parts);
  const bool by_size = verdict.judgement.by_size();
  const double grown = (by_size ? own.bytes : own.numbers) - 1;
  if (grown <= 0) return false;
  // A site's number says when it first allocated. Allocations before the objects may decide their size, but not the
  // other way round.
  const SiteIndex first = *std::min_element(verdict.parts.begin(), verdict.parts.end());
  size_t along = 0;
  bool before = false;
  for (const Regular& other : found->second) {
    const double also = (by_size ? other.sizes.bytes : other.sizes.numbers) - 1;
    if (also < kGrowsAlong * grown) continue;
    ++along;
    before |= other.site < first;
  }
  return before && along >= kFewestAlong &&
         static_cast<double>(along) >= kManyAlong * static_cast<double>(found->second.size());
}

double FactFinder::LostShare(const LineVerdict& verdict) const {
  if (run_.unseen != nullptr && run_.unseen->Has(MainSite(verdict).key)) return run_.unseen->lost_share;
  return run_.ledger.lost_share();
}

}  // namespace vramtrack
