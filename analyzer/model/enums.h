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
  kGrowingBuffer,         // each object is replaced by a larger one
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
