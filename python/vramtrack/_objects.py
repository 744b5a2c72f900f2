# SPDX-License-Identifier: Apache-2.0
"""What a report consists of, as plain objects: what the generated classes lack to be read and printed."""

from __future__ import annotations

import dataclasses
import os
from typing import Any, ClassVar, Iterator

from . import _cells, _fields, _html
from ._made import shown
from ._text import printable, size_text

FRAMES_INSIDE = 2  # shown of the calls below the one to look at


@shown
class Frame(_fields.Frame):
    @property
    def location(self) -> str:
        """Where it is, as the text report names it: "train.py:8", "libfoo.so+0x12ab" without a line, and "Cell [3], line 2"
        for a cell of the notebook that asks."""
        if not self.file or self.language == "allocator":
            name = os.path.basename(self.module)
            return "%s+0x%x" % (name, self.offset) if name and self.language != "allocator" else name
        file = self.shown_file or self.file
        return _cells.name(self.file, self.line) or ("%s:%d" % (file, self.line) if self.line else file)

    @property
    def is_cell(self) -> bool:
        """Whether it is in a cell of the notebook that asks."""
        return _cells.number(self.file) is not None

    @property
    def short_function(self) -> str:
        """The function as the text report names it: without parameters and template arguments."""
        return self.short_name or self.function

    def __str__(self) -> str:
        return printable("%s  %s" % (self.short_function, self.location) if self.location else self.short_function)

    def __repr__(self) -> str:
        return "<Frame %s>" % place_text(self.location, self.short_function)


class Placed:
    """An object with a call stack. One frame of the stack names it."""

    frames: tuple[Frame, ...]
    _naming_frame: ClassVar[str]  # the field that has its index

    @property
    def frame(self) -> Frame | None:
        """The frame to look at, which names the site; `None` without a stack."""
        index = getattr(self, self._naming_frame)
        return self.frames[index] if index < len(self.frames) else None

    @property
    def function(self) -> str:
        """The function of that frame; empty without a stack."""
        return self.frame.function if self.frame else ""

    @property
    def line(self) -> str:
        """FILE:LINE of that frame, as the text report names it; empty if it is unknown. `frame.file` is the whole path."""
        return self.frame.location if self.frame and self.frame.line else ""



@shown
class Site(Placed, _fields.Site):
    _columns = ("function", "line")  # of tables, in addition to the fields

    _naming_frame = "blame_frame"

    def __str__(self) -> str:
        return _cells.named(self.text)

    def __repr__(self) -> str:
        return "<Site %s %s>" % (self.id, self)


@dataclasses.dataclass(frozen=True, repr=False)
class Finding:
    """One leak: the site that leads it, and the sites that leak for the same reason. Its figures are those of all of them,
    in all processes of the job together.

    Attributes:
        verdict: `leak`, `growing_buffer`, `accelerating_leak` or `minor_leak`.
        explanation: Why, in sentences.
        line: FILE:LINE of the line to look at, as the text report names it; empty if it is unknown.
        function: The function that this line is in.
        device: Index of the device; `None` for host memory.
        rate_bytes_per_step: Bytes that stay behind per `rate_unit`.
        rate_ci: The lower and upper end of its 95 % confidence interval.
        rate_objects_per_step: Objects that stay behind per `rate_unit`.
        rate_unit: "step", or "GiB allocated" where no steps were found.
        live_bytes: Bytes live at the end of the trace. A job that ends normally frees most of them before.
        bytes_at_peak: Bytes live at the peak of the device.
        peak_without: The peak of the device in bytes if none of these sites had allocated anything.
        site: The site that leads the leak.
        parts: Its other sites.
    """

    verdict: str
    explanation: str
    line: str
    function: str
    device: int | None
    rate_bytes_per_step: float | None
    rate_ci: tuple[float | None, float | None]
    rate_objects_per_step: float | None
    rate_unit: str
    live_bytes: int
    bytes_at_peak: int
    peak_without: int
    site: Site
    parts: tuple[Site, ...]

    @property
    def rate(self) -> str:
        """The rate as text, such as "1.50 MiB per step"; "1.50 MiB per step and rank" is the mean of the ranks that leak."""
        return self.site.rate or ""

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The call stack of the site that leads the leak, most recent call first."""
        return self.site.frames

    @property
    def category(self) -> str:
        """What the memory of the site that leads the leak is for, such as "activations"."""
        return self.site.category

    def __str__(self) -> str:
        """The line, the function, the rate and how certain it is, as the text report says it."""
        return str(self.site)

    def __repr__(self) -> str:
        return "<Finding %s: %s>" % (self.verdict, self)

    def _repr_html_(self) -> str:
        """With its stack. What calls a cell of a notebook is the kernel's own, and left out."""
        frames, marked, holder = self.frames, self.site.blame_frame, self.site.holder
        begin = max(0, marked - FRAMES_INSIDE)
        end = next((i + 1 for i, frame in enumerate(frames[:-1]) if i >= marked and frame.is_cell
                    and frames[i + 1].shown_file.startswith("IPython/")), len(frames))
        kept = [] if holder is None else [holder.explanation, *(["fix: " + holder.hint] if holder.hint else [])]
        return _html.finding(str(self), [*kept, self.explanation], map(str, frames[begin:end]), marked - begin)


@shown
class Process(_fields.Process):
    def __repr__(self) -> str:
        rank = "" if self.rank is None else " rank %d" % self.rank
        return "<Process %d%s: %s>" % (self.pid, rank, printable(" ".join(self.command)))


@shown
class Steps(_fields.Steps):
    def __repr__(self) -> str:
        return "<Steps: %d %ss from %s>" % (self.count, self.unit, self.source)


@shown
class Device(_fields.Device):
    def __repr__(self) -> str:
        return "<Device %d %s: peak %s live of %s reserved>" % (self.index, printable(self.name), size_text(self.peak_live),
                                                              size_text(self.peak_reserved))


@dataclasses.dataclass(frozen=True)
class TimelineBin:
    """The lowest and highest values of one or more steps, or of a time where there are no steps. A device has at most 4,000.

    Attributes:
        device: Index of the device; `None` for host memory.
        unit: What `position` counts: "steps" or "seconds".
        position: Where the bin begins.
        live_low, live_high: Live bytes.
        reserved_low, reserved_high: Reserved bytes.
        device_used_low, device_used_high: Bytes used on the device.
    """

    device: int | None
    unit: str
    position: float
    live_low: int
    live_high: int
    reserved_low: int
    reserved_high: int
    device_used_low: int
    device_used_high: int


def findings(ranking: list[str], sites: list[Site]) -> Iterator[Finding]:
    """The leaks that these sites lead, in their order."""
    by_id = {site.id: site for site in sites}
    for site in (by_id[id_] for id_ in ranking):
        yield Finding(**vars(site.group), verdict=site.verdict, explanation=site.explanation, line=site.line,
                      function=site.function, device=site.device, rate_unit=site.rate_unit, site=site,
                      parts=tuple(one for one in sites if one.part_of == site.id))


def timeline(device: dict[str, Any]) -> Iterator[TimelineBin]:
    """The bins of one entry of the report's `timeline`."""
    columns = [device[series][end] for series in ("live", "reserved", "device_used") for end in ("low", "high")]
    for position, *sizes in zip(device["position"], *columns):
        yield TimelineBin(device["device"], device["unit"], position, *sizes)


def place_text(line: str, function: str) -> str:
    return printable(" in ".join(text for text in (line, function) if text)) or "(no stack recorded)"
