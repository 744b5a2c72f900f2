# SPDX-License-Identifier: Apache-2.0
"""The report's structs (docs/fields.md). Made by tools/lib/write_fields.py."""

from __future__ import annotations

import dataclasses
from typing import Any


@dataclasses.dataclass(frozen=True)
class Leak:
    """A leak as a whole: the site that leads it and its parts together."""

    rate_bytes_per_step: float | None
    rate_ci: tuple[float | None, float | None]
    rate_objects_per_step: float | None
    live_bytes: int
    bytes_at_peak: int
    peak_without: int


@dataclasses.dataclass(frozen=True)
class KeptFitPoint:
    """See docs/fields.md."""

    step: int
    bytes: float | None
    low: float | None
    high: float | None


@dataclasses.dataclass(frozen=True)
class Kept:
    """What the steps of a finding left behind, and what its verdict rests on; of a leak as a whole where the site leads one, and of several processes that of the worst."""

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
    """Of the ranks in which a place leaks, each weighed alike: per rank, and per `rate_unit`."""

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
    """What the ranks of a job say of a place, the same code on whichever devices; see [the vote of the ranks](report.md#the-vote-of-the-ranks)."""

    ranks: int
    leak: int
    not_enough: int
    no_leak: int
    rate: AcrossRate | None


@dataclasses.dataclass(frozen=True)
class LastUse:
    """After this nothing ran on any device that can have used what a site allocated."""

    objects: int
    latest_s: float | None
    latest_step: int | None
    idle_s: float | None


@dataclasses.dataclass(frozen=True)
class FirstKernel:
    """The kernel that was the first to begin on the device after so many of the allocations."""

    function: str
    share: float | None


@dataclasses.dataclass(frozen=True)
class Frame:
    """A call of a stack."""

    function: str
    file: str
    line: int
    module: str
    offset: int
    language: str
    forward: bool = False


@dataclasses.dataclass(frozen=True)
class Site:
    """Leaks first, worst first, then by bytes at the peak. All leaks and all holders of memory at a failed allocation are here; of the others those that hold most, by level, and segments of a framework's allocator apart."""

    id: str
    level: str
    kind: str
    device: int | None
    owner: str
    category: str
    verdict: str
    grade: str
    explanation: str
    rate_bytes_per_step: float | None
    rate_ci: tuple[float | None, float | None]
    rate_objects_per_step: float | None
    rate_unit: str
    step_name: str | None
    rate_bytes_per_second: float | None
    onset_step: int | None
    further_steps_needed: int | None
    allocations: int
    frees: int
    bytes_allocated: int
    live_objects: int
    live_bytes: int
    bytes_at_peak: int
    peak_without_site: int
    part_of: str | None
    parts: int
    group: Leak | None
    kept: Kept | None
    across: Across | None
    last_use: LastUse | None
    first_kernel: FirstKernel | None
    blame_frame: int
    own_frame: int | None
    frames: tuple[Frame, ...]


@dataclasses.dataclass(frozen=True)
class ActivitiesOnlyCupti:
    """What no hook saw."""

    library: str
    kind: str
    device: int
    allocations: int
    bytes: int
    live_objects: int
    live_bytes: int


@dataclasses.dataclass(frozen=True)
class ActivitiesOnlyHooks:
    """What CUPTI did not report."""

    kind: str
    allocations: int
    bytes: int
    reported: bool


@dataclasses.dataclass(frozen=True)
class ActivitiesMissing:
    """When no records came."""

    from_s: float | None
    to_s: float | None
    why: str


@dataclasses.dataclass(frozen=True)
class Activities:
    """What [CUPTI](cupti.md)'s records say beside the hooked events, of memory that the driver gives out."""

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
class Process:
    """One for each trace."""

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
    activities: Activities | None


@dataclasses.dataclass(frozen=True)
class StepRounds:
    """A loop around the steps, such as an epoch, an evaluation every so many steps, or accumulated gradients."""

    steps: int
    count: int


@dataclasses.dataclass(frozen=True)
class Phase:
    """A part of a run whose steps are of one kind: training, then evaluation, then generation."""

    source: str
    name: str | None
    unit: str
    count: int
    first_step: int
    share: float | None


@dataclasses.dataclass(frozen=True)
class Steps:
    """Where steps end, and how that is known."""

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


# Which fields are objects, or lists of objects, and of what class.
NESTED: dict[type, dict[str, type]] = {
    Kept: {"fit": KeptFitPoint},
    Across: {"rate": AcrossRate},
    Site: {"group": Leak, "kept": Kept, "across": Across, "last_use": LastUse, "first_kernel": FirstKernel, "frames": Frame},
    Activities: {"only_cupti": ActivitiesOnlyCupti, "only_hooks": ActivitiesOnlyHooks, "missing": ActivitiesMissing},
    Process: {"activities": Activities},
    Steps: {"rounds": StepRounds, "phases": Phase},
}
