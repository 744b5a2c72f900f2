// SPDX-License-Identifier: Apache-2.0
//
// Index types that do not convert into each other: a site cannot be passed where a stack is expected. They cost no more
// than a uint32_t.
#ifndef ANALYZER_BASE_INDICES_H_
#define ANALYZER_BASE_INDICES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace vramtrack {

// An index of things of one kind. `Tag` identifies the kind; it need not be defined.
template <typename Tag>
class Index {
 public:
  // Creates None().
  constexpr Index() = default;
  constexpr explicit Index(uint32_t value) : value_(value) {}

  // Returns the index of nothing. It is greater than all others.
  static constexpr Index None() { return Index(); }

  constexpr uint32_t value() const { return value_; }
  constexpr bool is_none() const { return value_ == UINT32_MAX; }

  constexpr Index Next() const { return Index(value_ + 1); }

  friend constexpr bool operator==(Index a, Index b) { return a.value_ == b.value_; }
  friend constexpr bool operator!=(Index a, Index b) { return a.value_ != b.value_; }
  friend constexpr bool operator<(Index a, Index b) { return a.value_ < b.value_; }
  friend constexpr bool operator<=(Index a, Index b) { return a.value_ <= b.value_; }
  friend constexpr bool operator>(Index a, Index b) { return a.value_ > b.value_; }
  friend constexpr bool operator>=(Index a, Index b) { return a.value_ >= b.value_; }
  template <typename H>
  friend H AbslHashValue(H h, Index index) {
    return H::combine(std::move(h), index.value_);
  }

 private:
  uint32_t value_ = UINT32_MAX;
};

// All indices of [begin, end), for a loop.
template <typename IndexType>
class IndexRange {
 public:
  class Iterator {
   public:
    constexpr explicit Iterator(uint32_t value) : value_(value) {}
    constexpr IndexType operator*() const { return IndexType(value_); }
    constexpr Iterator& operator++() {
      ++value_;
      return *this;
    }
    constexpr bool operator!=(Iterator other) const { return value_ != other.value_; }

   private:
    uint32_t value_;
  };

  constexpr IndexRange(IndexType begin, IndexType end) : begin_(begin.value()), end_(end.value()) {}
  constexpr Iterator begin() const { return Iterator(begin_); }
  constexpr Iterator end() const { return Iterator(end_); }

 private:
  uint32_t begin_, end_;
};

// A vector whose entries are accessed by one type of index only.
template <typename IndexType, typename T, typename Entries = std::vector<T>>
class IndexedVector {
 public:
  using value_type = T;

  IndexedVector() = default;
  explicit IndexedVector(size_t size) : entries_(size) {}
  IndexedVector(size_t size, const T& value) : entries_(size, value) {}
  IndexedVector(std::initializer_list<T> entries) : entries_(entries) {}

  typename Entries::reference operator[](IndexType index) { return entries_[index.value()]; }
  typename Entries::const_reference operator[](IndexType index) const { return entries_[index.value()]; }

  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  bool Has(IndexType index) const { return index.value() < entries_.size(); }
  IndexRange<IndexType> indices() const { return {IndexType(0), next_index()}; }
  IndexType last_index() const { return IndexType(static_cast<uint32_t>(entries_.size() - 1)); }
  // Returns the index of the entry that is added next.
  IndexType next_index() const { return IndexType(static_cast<uint32_t>(entries_.size())); }

  void push_back(T value) { entries_.push_back(std::move(value)); }
  template <typename... Arguments>
  decltype(auto) emplace_back(Arguments&&... arguments) {
    return entries_.emplace_back(std::forward<Arguments>(arguments)...);
  }
  void resize(size_t size) { entries_.resize(size); }
  void resize(size_t size, const T& value) { entries_.resize(size, value); }
  void assign(size_t size, const T& value) { entries_.assign(size, value); }
  // Grows the vector until it has `index`.
  void GrowTo(IndexType index) {
    if (__builtin_expect(!Has(index), 0)) entries_.resize(index.value() + size_t{1});
  }
  void reserve(size_t size) { entries_.reserve(size); }
  void clear() { entries_.clear(); }

  typename Entries::reference back() { return entries_.back(); }
  typename Entries::const_reference back() const { return entries_.back(); }
  auto begin() { return entries_.begin(); }
  auto end() { return entries_.end(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

  friend bool operator==(const IndexedVector& a, const IndexedVector& b) { return a.entries_ == b.entries_; }

 private:
  Entries entries_;
};

// An IndexedVector whose entries do not move when others are added.
template <typename IndexType, typename T>
using IndexedDeque = IndexedVector<IndexType, T, std::deque<T>>;

// A distinct stack of TracedStacks. The libraries of UnseenMemory come after the stacks of the trace. The trace's own
// numbers of stacks are plain integers.
using StackIndex = Index<struct StackTag>;
inline constexpr StackIndex kEmptyStack(0);

// An index into Trace::threads(). The trace's own numbers of threads are plain integers. Memory that no hooked event
// reports has a slot after all threads.
using ThreadSlot = Index<struct ThreadTag>;

// The identity of an allocation: the thread that made it, and its number among the allocations of that thread.
using AllocationName = std::pair<ThreadSlot, uint64_t>;

// A device, by the number that the job uses for it.
using DeviceIndex = Index<struct DeviceTag>;
// Stands for host memory in place of a device. It is greater than all devices.
inline constexpr DeviceIndex kHost = DeviceIndex::None();
// The highest device number. Traces and summaries store it in a byte.
inline constexpr uint32_t kMaxDevice = 255;
// Returns the device's number as reports have it; none for the host.
constexpr std::optional<uint32_t> NumberOf(DeviceIndex device) {
  return device == kHost ? std::nullopt : std::optional<uint32_t>(device.value());
}

// An index into Ledger::sites(). All replays of one trace number sites alike.
using SiteIndex = Index<struct SiteTag>;

// An index into the sites of a report, or of the findings of one process. JSON has the site's id in its place.
using ReportSiteIndex = Index<struct ReportSiteTag>;

// A path of Python names, an index into HolderPaths.
using HolderPathIndex = Index<struct HolderPathTag>;

static_assert(sizeof(SiteIndex) == sizeof(uint32_t) && std::is_trivially_copyable_v<SiteIndex>, "as cheap as a number");
static_assert(!std::is_convertible_v<uint32_t, SiteIndex> && !std::is_convertible_v<StackIndex, SiteIndex>,
              "nothing else is taken for a site");

}  // namespace vramtrack

template <typename Tag>
struct std::hash<vramtrack::Index<Tag>> {
  size_t operator()(vramtrack::Index<Tag> index) const { return std::hash<uint32_t>()(index.value()); }
};

#endif  // ANALYZER_BASE_INDICES_H_
