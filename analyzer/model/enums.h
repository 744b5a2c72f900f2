// SPDX-License-Identifier: Apache-2.0
//
// What a report says in one of a few words, and the words.
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
  kLeak,                  // every so many steps leave objects behind, at a constant rate
  kAcceleratingLeak,      // and more and more of them
  kGrowingBuffer,         // each object is replaced by a larger one
  kMinorLeak,             // a leak that will not matter within the run's horizon
  kSublinear,             // grows, but ever slower or no more: a cache that fills, a running maximum
  kPhaseAccumulation,     // grows through a phase of the job and is freed at its end
  kCycleGarbage,          // grows until a collector runs
  kOneTime,               // allocated once and kept
  kFragmentationGrowth,   // an allocator takes more from the device while what it hands out does not grow
  kSteady,                // nothing stays
  kInsufficientEvidence,  // too few steps to tell
};

constexpr bool IsLeak(Verdict verdict) { return verdict <= Verdict::kMinorLeak; }

// Who gave the memory out: the card (or the driver on the host), a framework's own allocator, or nobody, for handles.
enum class Level : uint8_t { kDriver, kFramework, kHandle };

// Of a frame. kAutograd: a node of PyTorch's graph that was run backward; kAllocator: a pool of its allocator as a
// whole; kCupti: no frame at all, but the library that CUPTI names where no hook saw the call.
enum class Language : uint8_t { kUnknown, kC, kCpp, kCuda, kPython, kAutograd, kCupti, kAllocator };

// The names of an enum's values in JSON and in summaries, from 0 on. They stay what they are.
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

// None for a name that this program does not know.
template <class E>
std::optional<E> ValueOf(std::string_view name) {
  for (size_t i = 0; i < std::size(EnumNames<E>::kNames); ++i) {
    if (name == EnumNames<E>::kNames[i]) return static_cast<E>(i);
  }
  return std::nullopt;
}

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_ENUMS_H_
