// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_LRU_CACHE_H_
#define TESTDATA_TRANSFORMER_LRU_CACHE_H_

#include <cstddef>
#include <list>
#include <optional>
#include <utility>

namespace transformer {

// A cache of at most `capacity` values. A new value evicts the one that was added first. Not thread-safe.
template <typename Key, typename Value>
class LruCache {
 public:
  explicit LruCache(size_t capacity) : capacity_(capacity) {}

  // Removes and returns the value of `key`, if any. Put it back after use.
  std::optional<Value> Take(const Key& key) {
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
      if (entry->first != key) continue;
      std::optional<Value> value(std::move(entry->second));
      entries_.erase(entry);
      return value;
    }
    return std::nullopt;
  }

  // `key` must not be in the cache.
  void Put(const Key& key, Value value) {
    entries_.emplace_front(key, std::move(value));
    if (entries_.size() > capacity_) entries_.pop_back();
  }

  size_t size() const { return entries_.size(); }

 private:
  const size_t capacity_;
  std::list<std::pair<Key, Value>> entries_;  // newest first
};

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_LRU_CACHE_H_
