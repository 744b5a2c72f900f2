// SPDX-License-Identifier: Apache-2.0
//
// The enums of a report, and the names of their values.
#ifndef ANALYZER_MODEL_ENUMS_H_
#define ANALYZER_MODEL_ENUMS_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <type_traits>

namespace vramtrack {

enum class Verdict : uint8_t {
  kLeak,                  // leaves objects behind at regular intervals, at a constant rate
  kAcceleratingLeak,      // leaves objects behind at a growing rate
  kGrowingBuffer,         // each object is replaced by a larger one, or all of them by more
  kMinorLeak,             // a leak that will not matter within the run's horizon
  kSublinear,             // grows ever more slowly, or has stopped: a cache that fills, a running maximum
  kPhaseAccumulation,     // grows through a phase of the job and is freed at its end
  kCycleGarbage,          // grows until a collector runs
  kOneTime,               // allocated once and kept
  kFragmentationGrowth,   // an allocator reserves more and more while its live bytes do not grow
  kSteady,                // nothing accumulates
  kInsufficientEvidence,  // too few steps for a verdict
};

constexpr bool IsLeak(Verdict verdict) { return verdict <= Verdict::kMinorLeak; }

// The provider of the memory: the driver (for device or host memory), a framework's allocator, or none, for handles.
enum class Level : uint8_t { kDriver, kFramework, kHandle };

// The language of a frame. kAutograd is a node of PyTorch's graph that was run backward. kAllocator is a whole pool of
// PyTorch's allocator. kCupti is not a frame: it names the library that CUPTI reports for a call that no hook saw.
enum class Language : uint8_t { kUnknown, kC, kCpp, kCuda, kPython, kAutograd, kCupti, kAllocator };

// The source of the marks that end a step.
enum class StepSource : uint8_t {
  kMarks,        // calls of vramtrack_step()
  kNvtx,         // named ranges
  kOptimizer,    // calls of an optimizer
  kPeriodicity,  // the stream of allocations repeats
  kCells,        // cells of a notebook
  kNone,
};

// What a step of a run, or of a part of it, is. kNone: the part is not judged.
enum class StepUnit : uint8_t { kStep, kWindow, kNone };

// The denominator of a rate.
enum class RateUnit : uint8_t { kStep, kGiB };

// The unit of the positions of a timeline.
enum class PositionUnit : uint8_t { kSteps, kSeconds };

// What a rate counts.
enum class RateOf : uint8_t { kBytes, kObjects };

// The pools of PyTorch's allocator: small blocks are never in a segment of large ones.
enum class BlockSizeClass : uint8_t { kSmall, kLarge };

// What a finding about a line of code covers.
enum class LineUnit : uint8_t { kLine, kFunction, kFile, kModule };

// Why an allocation failed: not enough memory was free, or enough was, in pieces that were too small.
enum class OomCause : uint8_t { kAmount, kContiguity };

// How an object holds memory.
enum class HolderKind : uint8_t {
  kEntries,    // entries of a container
  kVariable,   // one variable
  kGraph,      // a kept autograd graph
  kTraceback,  // a kept traceback
  kHook,
  kCycle,    // a reference cycle that waits for the collector
  kOutside,  // C or C++ code outside of Python
  kSeveral,  // no path explains half of the bytes
  kUnknown,  // the walk found none of them
};

// Why a walk through the objects of a process was made.
enum class WalkMoment : uint8_t { kGrowth, kOutOfMemory, kRequest, kExit, kInterval, kUnknown };

// How the category of a block is known: a walk found the block, or it follows from the block's call stack.
enum class CategorySource : uint8_t { kWalk, kInferred };

// How large the objects of a step are, compared with those of the steps before.
enum class SizeChange : uint8_t { kLarger, kSame, kSmaller };

// When memory that is live at a peak was allocated. kRecentSteps: in the ten steps before; kSetup: before the end of
// the first step.
enum class PeakAge : uint8_t { kThisStep, kRecentSteps, kEarlierSteps, kSetup };

// In what a rank differs from most others.
enum class RankFigure : uint8_t { kLeak, kGrowth, kPeak, kEnd, kCategory };

// Why the curve of a rank is shown. If all ranks have a curve, the others are alike; otherwise they are those with the
// highest peaks and the one with the least. The rank with the median peak is always kMedian.
enum class CurveReason : uint8_t { kDiffers, kAlike, kHighest, kMedian, kLeast };

// What the values of a change between two runs are: left behind by a step, live at the peak of the device, allocated by
// a step, left behind by a step in objects.
enum class ChangeUnit : uint8_t { kBytesLivePerStep, kBytesAtPeak, kBytesPerStep, kObjectsPerStep };

// The overall answer of a report.
enum class Answer : uint8_t {
  kLeak,       // at least one site leaks, and the leaks are not outweighed (LeaksAreOutweighed)
  kNoLeak,     // every site that could leak was judged, and none leaks
  kNotEnough,  // no known leak, or only outweighed ones, and some sites could not be judged
};

// The names of an enum's values in JSON and in summaries, starting with value 0. They must never change.
template <class E>
struct EnumNames {};
template <>
struct EnumNames<Verdict> {
  static constexpr const char* kNames[] = {"leak",
                                           "accelerating_leak",
                                           "growing_buffer",
                                           "minor_leak",
                                           "sublinear",
                                           "phase_accumulation",
                                           "cycle_garbage",
                                           "one_time",
                                           "fragmentation_growth",
                                           "steady",
                                           "insufficient_evidence"};
};
template <>
struct EnumNames<Level> {
  static constexpr const char* kNames[] = {"driver", "framework", "handle"};
};
template <>
struct EnumNames<Language> {
  static constexpr const char* kNames[] = {"unknown", "c", "c++", "cuda", "python", "autograd", "cupti", "allocator"};
};
template <>
struct EnumNames<StepSource> {
  static constexpr const char* kNames[] = {"marks", "nvtx", "optimizer", "periodicity", "cells", "none"};
};
template <>
struct EnumNames<StepUnit> {
  static constexpr const char* kNames[] = {"step", "window", "none"};
};
template <>
struct EnumNames<RateUnit> {
  static constexpr const char* kNames[] = {"step", "GiB allocated"};
};
template <>
struct EnumNames<PositionUnit> {
  static constexpr const char* kNames[] = {"steps", "seconds"};
};
template <>
struct EnumNames<RateOf> {
  static constexpr const char* kNames[] = {"bytes", "objects"};
};
template <>
struct EnumNames<BlockSizeClass> {
  static constexpr const char* kNames[] = {"small", "large"};
};
template <>
struct EnumNames<LineUnit> {
  static constexpr const char* kNames[] = {"line", "function", "file", "module"};
};
template <>
struct EnumNames<OomCause> {
  static constexpr const char* kNames[] = {"amount", "contiguity"};
};
template <>
struct EnumNames<HolderKind> {
  static constexpr const char* kNames[] = {"entries", "variable", "graph",   "traceback", "hook",
                                           "cycle",   "outside",  "several", "unknown"};
};
template <>
struct EnumNames<WalkMoment> {
  static constexpr const char* kNames[] = {"growth", "out_of_memory", "request", "exit", "interval", "unknown"};
};
template <>
struct EnumNames<CategorySource> {
  static constexpr const char* kNames[] = {"walk", "inferred"};
};
template <>
struct EnumNames<SizeChange> {
  static constexpr const char* kNames[] = {"larger", "same", "smaller"};
};
template <>
struct EnumNames<PeakAge> {
  static constexpr const char* kNames[] = {"this_step", "recent_steps", "earlier_steps", "setup"};
};
template <>
struct EnumNames<RankFigure> {
  static constexpr const char* kNames[] = {"leak", "growth", "peak", "end", "category"};
};
template <>
struct EnumNames<CurveReason> {
  static constexpr const char* kNames[] = {"differs", "alike", "highest", "median", "least"};
};
template <>
struct EnumNames<ChangeUnit> {
  static constexpr const char* kNames[] = {"bytes_live_per_step", "bytes_at_peak", "bytes_per_step",
                                           "objects_per_step"};
};
template <>
struct EnumNames<Answer> {
  static constexpr const char* kNames[] = {"leak", "no_leak", "not_enough_evidence"};
};

template <class E, class = void>
inline constexpr bool kHasNames = false;
template <class E>
inline constexpr bool kHasNames<E, std::void_t<decltype(EnumNames<E>::kNames)>> = true;

template <class E>
constexpr const char* NameOf(E value) {
  return EnumNames<E>::kNames[static_cast<size_t>(value)];
}

// Returns the value with this name; nullopt if this version does not know the name.
template <class E>
std::optional<E> ValueOf(std::string_view name) {
  for (size_t i = 0; i < std::size(EnumNames<E>::kNames); ++i) {
    if (name == EnumNames<E>::kNames[i]) return static_cast<E>(i);
  }
  return std::nullopt;
}

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_ENUMS_H_
