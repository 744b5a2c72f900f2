# SPDX-License-Identifier: Apache-2.0
"""The structs of the report and of the diff (docs/fields.md). Made by tools/lib/write_fields.py.

Sizes are bytes. `None` stands for a number that is unknown or does not apply.
"""

from __future__ import annotations

import dataclasses
from typing import Any


@dataclasses.dataclass(frozen=True)
class Leak:
    """A leak as a whole: the site that leads it and its parts together.

    Attributes:
        rate_bytes_per_step: Bytes that stay behind per `rate_unit`.
        rate_ci: 95 % confidence interval.
        rate_objects_per_step: Objects that stay behind per `rate_unit`.
        live_bytes: Bytes live at the end.
        bytes_at_peak: Bytes live at the peak of the device.
        peak_without: Bytes at the peak if none of these sites had allocated anything.
    """

    rate_bytes_per_step: float | None
    rate_ci: tuple[float | None, float | None]
    rate_objects_per_step: float | None
    live_bytes: int
    bytes_at_peak: int
    peak_without: int


@dataclasses.dataclass(frozen=True)
class KeptFitPoint:
    """One end of the line that was fitted to what steps left behind.

    Attributes:
        bytes: Bytes left behind up to this step, by the rate.
        low: The same by the lower end of the rate's confidence interval.
        high: The same by its upper end.
    """

    step: int
    bytes: float | None
    low: float | None
    high: float | None


@dataclasses.dataclass(frozen=True)
class Kept:
    """What the steps of a finding left behind: the evidence for its verdict. For the whole leak if the site leads one;
    for the worst of several processes.

    Attributes:
        step: Step numbers, at most 500.
        bytes: Bytes allocated up to each of these steps and still live after the last one.
        objects: The same in objects.
        fit: The two ends of the fitted line; empty without one.
        tested_steps: How many steps were judged.
        first_tested_step: The first of them.
        last_tested_step: The last of them.
        steps_with_survivors: How many of these steps left something behind.
        survivor_objects: Objects that they left behind.
        survivor_bytes: Bytes of these objects.
        max_lifetime_steps: The longest life of an object that was freed, in steps.
    """

    step: tuple[int, ...]
    bytes: tuple[int, ...]
    objects: tuple[int, ...]
    fit: tuple[KeptFitPoint, ...]
    tested_steps: int
    first_tested_step: int | None
    last_tested_step: int | None
    steps_with_survivors: int
    survivor_objects: int
    survivor_bytes: int
    max_lifetime_steps: int


@dataclasses.dataclass(frozen=True)
class AcrossRate:
    """Of the ranks in which a place leaks, each weighed alike: per rank, and per `rate_unit`.

    Attributes:
        of: `objects` of handles.
        mean: Mean of the ranks.
        ci: 95 % confidence interval.
        least: The lowest of the ranks.
        median: Median of the ranks.
        most: The highest of the ranks.
        standard_deviation: Among the ranks.
        most_rank: The rank that leaks most; `None` in a job without ranks.
        most_pid: The process that leaks most.
    """

    of: str
    mean: float | None
    ci: tuple[float | None, float | None]
    least: float | None
    median: float | None
    most: float | None
    standard_deviation: float | None
    most_rank: int | None
    most_pid: int


@dataclasses.dataclass(frozen=True)
class Across:
    """What the ranks of a job say of a place, the same code on whichever devices; see the vote of the ranks.

    Attributes:
        ranks: Of the job: its processes that used a device, where there are no ranks. Of several with one rank the one
            with the most memory counts.
        leak: In how many of them the place is judged a leak.
        not_enough: In how many it could not be judged.
        no_leak: In how many it is judged no leak. The sites of the others do not list it: it is not there, or too
            small.
        rate: `None` where it leaks in no rank, or the rates are per different things.
    """

    ranks: int
    leak: int
    not_enough: int
    no_leak: int
    rate: AcrossRate | None


@dataclasses.dataclass(frozen=True)
class LastUse:
    """After this nothing ran on any device that can have used what a site allocated.

    Attributes:
        objects: That this is known of.
        latest_s: Seconds since the recording began; of the object for which it was latest.
        latest_step: `None` without steps.
        idle_s: Seconds from then to an object's free or the end of the trace, the median of the objects.
    """

    objects: int
    latest_s: float | None
    latest_step: int | None
    idle_s: float | None


@dataclasses.dataclass(frozen=True)
class FirstKernel:
    """The kernel that was the first to begin on the device after so many of the allocations.

    Attributes:
        function: Its name.
        share: Of the site's allocations, 0.9 at least.
    """

    function: str
    share: float | None


@dataclasses.dataclass(frozen=True)
class NvtxRange:
    """The NVTX ranges that are open while a site allocates, and calls of a `tf.function`: those of its thread; for a
    thread without any, those of the only thread that has some.

    Attributes:
        path: Their names, the outermost first, numbers as `#`: `epoch # > evaluate`.
        share: Of the site's allocations that these ranges are open for, 0.5 at least.
        opened_at: Line of your code that opens the innermost one; `None` if there are several, or it is not known.
    """

    path: str
    share: float | None
    opened_at: str | None


@dataclasses.dataclass(frozen=True)
class MemoryName:
    """The name that a program gave to a site's memory with NVTX.

    Attributes:
        name: Numbers as `#`.
        share: Of the site's objects that have a name, 0.5 at least.
    """

    name: str
    share: float | None


@dataclasses.dataclass(frozen=True)
class HolderShare:
    """One of several holders.

    Attributes:
        path: As in `holder`.
        type: Python type of the object that holds; `None` if it is unknown.
        count: Its entries; `None` if it is not a container.
        bytes: That it holds.
        objects: That it holds.
        share: Of all bytes that were looked at, 0 to 1.
    """

    path: str
    type: str | None
    count: int | None
    bytes: int
    objects: int
    share: float | None


@dataclasses.dataclass(frozen=True)
class Holder:
    """What holds the live blocks of a site, see holders.

    Attributes:
        path: The names that lead to the blocks, such as `__main__.history[*]['loss'].grad_fn`: of the path that
            explains most bytes.
        container: The part of the path that leads to the object which holds them all.
        type: Python type of this object; `None` if it is unknown.
        file: Of the module or function where the path begins; `None` if unknown.
        count: Entries of this object; `None` if it is not a container.
        count_before: Its entries at the first walk that found it; `None` if no earlier walk did.
        step: Of the walk; `None` without steps.
        step_before: Of the walk that `count_before` is from.
        seconds: When the walk ended, since the recording began.
        seconds_before: The same of the walk that `count_before` is from; 0 without it.
        share: The part of `walked_bytes` that the path explains, 0 to 1.
        bytes: That the path explains.
        walked_bytes: Bytes that were live at the walk: of a leak only what earlier steps had left behind, of a whole
            leak if the site leads one.
        not_seen_bytes: The part of them that the walk did not find.
        not_seen_objects: The same in objects.
        how: `entries` of a container, a `variable`, a kept autograd `graph`, a kept `traceback`, a `hook`, a reference
            `cycle` that waits for the collector, C or C++ code `outside` of Python; `several`: no path explains half of
            the bytes; `unknown`: the walk found none of them.
        complete: Whether the walk visited everything.
        walk: Number of the walk.
        others: What else holds at least 5 %, the most first.
        explanation: All of this as a sentence.
        hint: What to change, only where it is certain; otherwise `None`.
        limit: How many entries it takes at most: `maxlen` of a deque, `maxsize` of an `lru_cache` or a queue, or an
            attribute such as `capacity` of the object that owns it; `None` if nothing says so.
    """

    path: str
    container: str
    type: str | None
    file: str | None
    count: int | None
    count_before: int | None
    step: int | None
    step_before: int | None
    seconds: float | None
    seconds_before: float | None
    share: float | None
    bytes: int
    walked_bytes: int
    not_seen_bytes: int
    not_seen_objects: int
    how: str
    complete: bool
    walk: int
    others: tuple[HolderShare, ...]
    explanation: str
    hint: str | None
    limit: int | None


@dataclasses.dataclass(frozen=True)
class Frame:
    """A call of a stack.

    Attributes:
        function: Where it is unknown, what is known of it: its module and offset.
        file: Empty where it is unknown.
        line: 0 where it is unknown.
        module: The program or library that it is in.
        offset: In the module, where there is no line.
        language: `cupti`: the library that took memory which only CUPTI saw, so that there is no stack; `autograd`: the
            node of PyTorch's graph that was run backward; `allocator`: a pool of PyTorch's allocator as a whole.
        short_name: `function` in short, as text shows it; absent if that is the same.
        forward: Of the forward call that made the graph node which is run backward; absent otherwise.
        shown_file: `file` as text shows it: from the job's folder or the package on; empty where that is the whole of
            it.
    """

    function: str
    file: str
    line: int
    module: str
    offset: int
    language: str
    shown_file: str
    short_name: str = ""
    forward: bool = False


@dataclasses.dataclass(frozen=True)
class Site:
    """Leaks first, worst first, then by bytes at the peak. All leaks and all holders of memory at a failed allocation
    are here; of the others those that hold most, by level, and segments of a framework's allocator apart.

    Attributes:
        id: Short and stable: a hash of the functions of its stack, its level, kind and device.
        level: `driver` (CUDA gave the memory out), `framework` (a framework's own allocator did) or `handle` (streams,
            events: counted, not sized).
        kind: Of the call: `device`, `pitched`, `array`, `mipmapped_array`, `managed`, `stream_ordered`, `pool`,
            `pinned`, `registered`, .
        device: `None` for host memory.
        owner: The program or library that asked for it.
        category: What the memory is for, see the ledger; `segment` of a framework's allocator; `handle`; `unknown` if
            nothing shows it.
        verdict: See leak verdicts.
        grade: At which levels that was seen: `framework+driver` of a leak that the segments show as well.
        explanation: Why, in a sentence.
        text: The site in one line: where it is, and what it leaves behind or holds.
        rate: What stays behind, in words: of the whole leak if the site leads one; `None` if nothing does.
        rate_bytes_per_step: Bytes that stay behind per `rate_unit`; 0 if none do.
        rate_ci: Its 95 % confidence interval.
        rate_objects_per_step: Objects that stay behind per `rate_unit`.
        rate_unit: What these three are per: `step`, or `GiB allocated` where windows stand for steps.
        step_name: Of the range that a step of this site's phase is; `None` where steps have no name. Text says the rate
            per this name.
        rate_bytes_per_second: Over the whole run; of the whole leak that the site leads.
        onset_step: The first step that leaked; `None` if it leaked from the beginning or does not leak.
        odds: Of a leak, to one; `None` if nothing was judged.
        reason: Id of what speaks against a leak, see the list; `None` without one.
        allocations: Over the whole run.
        frees: Over the whole run.
        bytes_allocated: Over the whole run.
        live_objects: At the end.
        live_bytes: Bytes live at the end.
        bytes_at_peak: Bytes live at the peak of the device.
        peak_without_site: Bytes at the peak if the site had allocated nothing.
        kept_in_pools: Of memory pools that were not destroyed, the bytes that they keep and nothing uses, at least.
        part_of: The site that leads the leak which this one is a part of; `None` if it is part of none. One leak is one
            finding.
        parts: How many other sites belong to the leak that this one leads.
        group: For a site that leads a leak, the figures of the whole leak; otherwise `None`.
        kept: For a finding that is not part of another, what it left behind; otherwise `None`.
        across: In a job with ranks, or with several processes, what they say of this place.
        last_use: Of a leak, where CUPTI's records make it certain.
        first_kernel: Of a leak, where CUPTI's records tell.
        nvtx_range: The NVTX ranges that are open while it allocates; `None` if none are, or several about as often.
        memory_name: What the program calls it; `None` without a name.
        holder: What holds its blocks, where a walk shows it; otherwise `None`. Not for sites that are part of another's
            leak.
        blame_frame: Index of the frame to look at.
        own_frame: Index of the innermost frame of your own code, of Python where the stack has Python; `None` where no
            frame is.
        frames: Most recent call first.
    """

    id: str
    level: str
    kind: str
    device: int | None
    owner: str
    category: str
    verdict: str
    grade: str
    explanation: str
    text: str
    rate: str | None
    rate_bytes_per_step: float | None
    rate_ci: tuple[float | None, float | None]
    rate_objects_per_step: float | None
    rate_unit: str
    step_name: str | None
    rate_bytes_per_second: float | None
    onset_step: int | None
    odds: float | None
    reason: str | None
    allocations: int
    frees: int
    bytes_allocated: int
    live_objects: int
    live_bytes: int
    bytes_at_peak: int
    peak_without_site: int
    kept_in_pools: int
    part_of: str | None
    parts: int
    group: Leak | None
    kept: Kept | None
    across: Across | None
    last_use: LastUse | None
    first_kernel: FirstKernel | None
    nvtx_range: NvtxRange | None
    memory_name: MemoryName | None
    holder: Holder | None
    blame_frame: int
    own_frame: int | None
    frames: tuple[Frame, ...]


@dataclasses.dataclass(frozen=True)
class ActivitiesOnlyCupti:
    """What no hook saw.

    Attributes:
        library: That asked for it; empty where CUPTI does not say.
        live_objects: At the end.
        live_bytes: At the end.
    """

    library: str
    kind: str
    device: int
    allocations: int
    bytes: int
    live_objects: int
    live_bytes: int


@dataclasses.dataclass(frozen=True)
class ActivitiesOnlyHooks:
    """What CUPTI did not report.

    Attributes:
        reported: CUPTI has reported others of this kind, so that it should have reported these.
    """

    kind: str
    allocations: int
    bytes: int
    reported: bool


@dataclasses.dataclass(frozen=True)
class ActivitiesMissing:
    """When no records came.

    Attributes:
        from_s: Seconds since the recording began.
    """

    from_s: float | None
    to_s: float | None
    why: str


@dataclasses.dataclass(frozen=True)
class Activities:
    """What CUPTI's records say in addition to the hooked events, of memory that the driver gives out.

    Attributes:
        dropped: By CUPTI.
        unwritten: There was no room for them in the trace.
        joined: Allocations that hooks saw, too.
        other_sizes: Of the joined ones, those whose sizes differ.
        only_cupti: By live bytes, the most first.
        only_hooks: By bytes, the most first.
    """

    records: int
    dropped: int
    unwritten: int
    joined: int
    joined_bytes: int
    other_sizes: int
    only_cupti: tuple[ActivitiesOnlyCupti, ...]
    only_hooks: tuple[ActivitiesOnlyHooks, ...]
    missing: tuple[ActivitiesMissing, ...]


@dataclasses.dataclass(frozen=True)
class Allocator:
    """An allocator of a framework other than PyTorch.

    Attributes:
        framework: Its name: `TensorFlow`.
        name: Of the allocator, as the framework calls it: `GPU_0_bfc`.
        device: Whose memory it divides; 63 is the host's memory.
    """

    framework: str
    name: str
    device: int


@dataclasses.dataclass(frozen=True)
class Context:
    """CUDA contexts that one call stack made on one device.

    Attributes:
        made: How many.
        live: How many of them were not destroyed.
        idle: The process has less than a hundredth of its memory on that device: the context is its cost there.
        at_most_bytes: Of one context: what was in use on the device and not in the trace when the job last asked, by
            context; `None` if it did not ask.
        thread: Name of the thread that made the first; empty if it has none of its own.
        seconds: When it was made, after the recording began.
        step: In which step; `None` without steps.
        frames: Most recent call first.
    """

    device: int
    made: int
    live: int
    idle: bool
    at_most_bytes: int | None
    thread: str
    seconds: float | None
    step: int | None
    frames: tuple[Frame, ...]


@dataclasses.dataclass(frozen=True)
class SleepLine:
    """A line whose memory a device held while the process slept.

    Attributes:
        owner: The library that allocated, or the job's own code.
        stack: Of the call that allocated; of the largest part if several stacks share the line.
        last_bytes: Held in the last sleep.
        bytes_per_cycle: Growth from cycle to cycle; `None` with fewer than three cycles.
    """

    level: str
    owner: str
    stack: tuple[Frame, ...]
    last_bytes: int
    bytes_per_cycle: float | None


@dataclasses.dataclass(frozen=True)
class Sleep:
    """Cycles of sleep and wake on a device: memory was unmapped while its addresses stayed in use, and mapped again at
    the same addresses.

    Attributes:
        cycles: Complete ones.
        released_bytes: That slept in the last cycle: address space without memory.
        first_bytes: In use on the device in the first sleep, of all that is known.
        last_bytes: In the last sleep.
        bytes_per_cycle: Growth from the second cycle on; `None` with fewer than three cycles.
        lines: What lived through the sleep: by growth, then by size in the last sleep.
    """

    device: int
    cycles: int
    released_bytes: int
    first_bytes: int
    last_bytes: int
    bytes_per_cycle: float | None
    lines: tuple[SleepLine, ...]


@dataclasses.dataclass(frozen=True)
class Process:
    """One for each trace.

    Attributes:
        pid: Process id.
        parent_pid: Process id of its parent.
        rank: In the job, from the launcher's environment variables; `None` without one.
        command: Its words.
        run_id: The same in all processes of a run; `None` if it is not known.
        complete: It ended normally, nothing was lost and nothing is damaged.
        incomplete_why: One line; empty if complete.
        events: In the trace.
        lost_events: Known to be missing.
        duration_s: From the first CUDA call, or from when it was joined.
        joined_after_s: Its age when it was joined by attach or start: what it did before is unknown; 0 if it was
            recorded from its first CUDA call.
        activities: `None` without CUPTI.
        allocators: Of frameworks other than PyTorch, whose blocks are sites of the level `framework`.
        contexts: CUDA contexts, idle ones first.
        sleeps: One for each device whose memory slept.
    """

    pid: int
    parent_pid: int
    rank: int | None
    command: tuple[str, ...]
    run_id: str | None
    complete: bool
    incomplete_why: str
    events: int
    lost_events: int
    duration_s: float | None
    joined_after_s: float | None
    activities: Activities | None
    allocators: tuple[Allocator, ...]
    contexts: tuple[Context, ...]
    sleeps: tuple[Sleep, ...]


@dataclasses.dataclass(frozen=True)
class StepRounds:
    """A loop around the steps, such as an epoch, an evaluation every so many steps, or accumulated gradients.

    Attributes:
        steps: In each.
        count: Complete ones.
    """

    steps: int
    count: int


@dataclasses.dataclass(frozen=True)
class Phase:
    """A part of a run whose steps are of one kind: training, then evaluation, then generation.

    Attributes:
        source: As of `steps`; `none` of windows, and of a part that is not judged.
        name: Of the range that its steps are; `None` where they have no name.
        unit: `none`: this part is not judged.
        count: Complete steps or windows.
        first_step: How many came before it.
        share: Of the run, 0 to 1.
    """

    source: str
    name: str | None
    unit: str
    count: int
    first_step: int
    share: float | None


@dataclasses.dataclass(frozen=True)
class Steps:
    """Where steps end, and how that is known.

    Attributes:
        count: Complete steps; of a run with phases, those of all of them.
        source: `marks` are calls of `vramtrack_step()`, `periodicity` is inferred from the allocations; see where steps
            end.
        confidence: 0 to 1.
        unit: `window` where no steps were found: `count` is then that of windows in which `window_bytes` were
            allocated; see steps.
        window_bytes: `None` where there are steps.
        rounds: Loops around the steps, the shortest first, as far as they are sure; only for steps from `periodicity`.
        name: Of the range that a step is, with `#` for a number (`train step #`); `None` where steps have no name.
        coverage: Share of the run that steps cover, by its work and its active time, 0 to 1.
        judged: The same, with the windows that stand for steps where there are none; below a half the report is not
            sure.
        runner_up: What else could have been a step; `None` where there was nothing.
        phases: Parts of a run whose steps differ, by time; empty where all steps are of one kind.
        seconds: That a step takes, by the later half of the run; `None` for windows, and where steps have no duration.
        rarest_leak: N, where the run is long enough to show a leak in each n-th step; `None` where it is not, and where
            a line leaks.
    """

    count: int
    source: str
    confidence: float | None
    unit: str
    window_bytes: int | None
    rounds: tuple[StepRounds, ...]
    name: str | None
    coverage: float | None
    judged: float | None
    runner_up: dict[str, Any] | None
    phases: tuple[Phase, ...]
    seconds: float | None
    rarest_leak: int | None


@dataclasses.dataclass(frozen=True)
class DiffSide:
    """One of the two runs.

    Attributes:
        paths: What was compared.
        processes: The processes of the run.
        steps: Where its steps end.
        incomplete: Why too much of the record is missing to say that nothing changed; empty if it is not.
    """

    paths: tuple[str, ...]
    processes: tuple[Process, ...]
    steps: Steps
    incomplete: str


@dataclasses.dataclass(frozen=True)
class DiffDivergence:
    """Where two sequences of allocations and frees part.

    Attributes:
        event: The number of the allocation or free, from 0.
        rank: Of the process.
        base_frames: Call stack of that event in the base; empty if the base ends there.
        new_frames: The same of the new run.
    """

    event: int
    rank: int | None
    base_frames: tuple[Frame, ...]
    new_frames: tuple[Frame, ...]


@dataclasses.dataclass(frozen=True)
class DiffOfDevice:
    """A figure of a device in both runs.

    Attributes:
        device: Index of the device.
        base: In the base.
        new: In the new run.
        delta: New minus base.
        significant: Whether the difference is larger than chance and large enough to matter.
    """

    device: int
    base: float | None
    new: float | None
    delta: float | None
    significant: bool


@dataclasses.dataclass(frozen=True)
class DiffFinding:
    """A site that changed.

    Attributes:
        level: As of a site, here and in the next two.
        device: `None` for host memory.
        base_site: Id in the report of the base; `None` if the site is not in it.
        new_site: Id in the report of the new run; `None` if the site is not in it.
        base_value: The value in the base, in `unit`.
        new_value: The value in the new run.
        delta: New minus base.
        unit: Of the values: left behind by a step, at the peak of the device, allocated by a step, left behind.
        rate_unit: What rates are per.
        p_value: `None`: not tested.
        effect_size: Cliff's delta, -1 to 1.
        leak: Whether the site leaks in the new run.
        base_leak: Whether it leaks in the base.
        explanation: One sentence.
        naming_frame: Index of the frame that names it.
        frames: Call stack, most recent call first: that of the new run if it has the site.
        parts: Of a leak, its other sites, whose values are in those above; the largest first. They have no parts.
    """

    level: str
    kind: str
    category: str
    device: int | None
    base_site: str | None
    new_site: str | None
    base_value: float | None
    new_value: float | None
    delta: float | None
    unit: str
    rate_unit: str
    p_value: float | None
    effect_size: float | None
    leak: bool
    base_leak: bool
    explanation: str
    naming_frame: int
    frames: tuple[Frame, ...]
    parts: tuple[DiffFinding, ...]


@dataclasses.dataclass(frozen=True)
class Diff:
    """What `vramtrack diff --format json` prints. Sizes are bytes.

    Attributes:
        new_run: `new` is the list of new sites.
        comparable: `false` for unrelated programs: nothing else is claimed then.
        reason: Why not; empty if they are comparable.
        identical: The same allocations and frees in the same order.
        reordered: The same ones in another order.
        first_divergence: Where the two sequences part; `None` if that is not known.
        tested: There were steps enough to tell a change from chance.
        events: Allocations and frees of the new run that were compared.
        small_changes: Sites that changed too little to be findings.
        inferred_renames: Names that are taken to have changed, in addition to those that the caller gave.
        rate_unit: What rates are per.
        normaliser: What makes steps of the two runs comparable, in words; empty: nothing had to.
        peak: Bytes live.
        reserved_peak: Bytes.
        growth: Bytes per `rate_unit`.
        fragmentation: Bytes reserved at the peak and not live.
        new: The largest first, here and below.
        moved: What only changed its place: lines, files, names.
        warnings: One line each.
    """

    base: DiffSide
    new_run: DiffSide
    comparable: bool
    reason: str
    identical: bool
    reordered: bool
    first_divergence: DiffDivergence | None
    tested: bool
    events: int
    matched_sites: int
    small_changes: int
    inferred_renames: tuple[dict[str, Any], ...]
    rate_unit: str
    normaliser: str
    peak: tuple[DiffOfDevice, ...]
    reserved_peak: tuple[DiffOfDevice, ...]
    growth: tuple[DiffOfDevice, ...]
    fragmentation: tuple[DiffOfDevice, ...]
    new: tuple[DiffFinding, ...]
    gone: tuple[DiffFinding, ...]
    grown: tuple[DiffFinding, ...]
    shrunk: tuple[DiffFinding, ...]
    moved: tuple[DiffFinding, ...]
    warnings: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class DiffValue:
    """A figure in both runs.

    Attributes:
        base: In the base.
        new: In the new run.
        delta: New minus base.
        significant: Whether the difference is larger than chance and large enough to matter.
    """

    base: float | None
    new: float | None
    delta: float | None
    significant: bool


@dataclasses.dataclass(frozen=True)
class CheckedRule:
    """A rule that was applied.

    Attributes:
        rule: Its name, see docs/check.md.
        result: `passed`, `failed` or `not_judged`.
        checked: How many sites or devices it was applied to.
        note: Why it could not be judged; empty otherwise.
    """

    rule: str
    result: str
    checked: int
    note: str


@dataclasses.dataclass(frozen=True)
class CheckFrame:
    """A call of the stack.

    Attributes:
        file: As that of the finding.
        line: 0 without one.
    """

    function: str
    file: str
    line: int


@dataclasses.dataclass(frozen=True)
class CheckFinding:
    """What is against a rule.

    Attributes:
        rule: The rule, see docs/check.md.
        status: `failed`, `warning` or `excepted`.
        subject: The function or the device that it is about.
        message: What is wrong, in one line.
        site: Id of the site, as in the report; `None` for a device.
        key: What identifies the finding in every run.
        device: Index of the device; `None` without one.
        rank: The rank; `None` in a job without ranks.
        value: What was measured, in `unit`; `None` if there is no number.
        limit: The limit, or the baseline's value; `None` without one.
        unit: `bytes`, `bytes_per_step`, `objects_per_step`, `share`, `steps` and others.
        file: The source file, from the root of the source tree where it is known; empty without one.
        line: The line in it; 0 without one.
        exception: The exception that covers it; `None` without one.
        naming_frame: Index of the frame that the finding is named after.
        frames: Call stack, most recent call first; empty for a device.
    """

    rule: str
    status: str
    subject: str
    message: str
    site: str | None
    key: str
    device: int | None
    rank: int | None
    value: float | None
    limit: float | None
    unit: str
    file: str
    line: int
    exception: dict[str, Any] | None
    naming_frame: int
    frames: tuple[CheckFrame, ...]


@dataclasses.dataclass(frozen=True)
class Check:
    """What `vramtrack check --format json` prints. Sizes are bytes. Fields may be added without a new schema_version.

    Attributes:
        trace: Path as given.
        baseline: Path as given; `None` without one.
        result: `passed`, `failed` or `not_enough_evidence`.
        exit_code: Of `vramtrack check`: 0 passed, 1 failed, 3 not enough evidence.
        evidence_note: What is missing for a judgement; otherwise empty.
        steps: How many steps were looked at.
        sites: How many sites.
        devices: How many devices.
        failed: How many findings failed.
        warned: How many only warn.
        excepted: How many an exception covers.
        rules: The rules that were applied.
        findings: What is against the rules, in the order of the rules; also warnings and exceptions.
        warnings: One line each.
    """

    trace: str
    baseline: str | None
    result: str
    exit_code: int
    evidence_note: str
    steps: int
    sites: int
    devices: int
    failed: int
    warned: int
    excepted: int
    rules: tuple[CheckedRule, ...]
    findings: tuple[CheckFinding, ...]
    warnings: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Device:
    """One device that was used. Live is what is allocated and not freed, reserved what an allocator took from the
    device, and used what is taken on the device by whatever process.

    Attributes:
        index: Its number, as the job sees it.
        name: Its model; empty if the job never asked for it.
        total_bytes: Its memory; 0 if unknown.
        peak_step: The step with the most live bytes; `None` without steps.
        peak_live: Bytes live at that moment.
        peak_reserved: Bytes reserved at that moment.
        peak_device_used: Bytes used at that moment.
        end_live: Bytes live at the end of the last step; without steps at the end.
        end_reserved: Bytes reserved at that moment.
        end_device_used: Bytes used at that moment.
        growth_bytes_per_step: What live bytes grow by in each step; `None` if it is unknown.
        growth_ci: Its 95 % confidence interval.
        steps_to_oom: Steps until the device is full at this rate; `None` if it does not fill up or that is unknown.
        unattributed_bytes: Bytes used at the peak that the trace does not explain.
    """

    index: int
    name: str
    total_bytes: int
    peak_step: int | None
    peak_live: int
    peak_reserved: int
    peak_device_used: int
    end_live: int
    end_reserved: int
    end_device_used: int
    growth_bytes_per_step: float | None
    growth_ci: tuple[float | None, float | None]
    steps_to_oom: float | None
    unattributed_bytes: int


# Where the fields of these are in the JSON; a pair has two places; of a|b the first that is there.
PLACES: dict[type, dict[str, str]] = {
    Device: {
        "peak_step": "peak.step",
        "peak_live": "peak.live",
        "peak_reserved": "peak.reserved",
        "peak_device_used": "peak.device_used",
        "end_live": "last_step.live|end.live",
        "end_reserved": "last_step.reserved|end.reserved",
        "end_device_used": "last_step.device_used|end.device_used",
        "growth_bytes_per_step": "growth.bytes_per_step",
        "growth_ci": "growth.ci_low growth.ci_high",
        "steps_to_oom": "growth.steps_to_oom",
    },
}
