// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_LRU_CACHE_H_
#define TESTDATA_TRANSFORMER_LRU_CACHE_H_

#include <cstddef>
#include <list>
#include <optional>
#include <utility>

namespace transformer {

// At most `capacity` values; a new one pushes out the one that was put in longest ago. Not thread-safe.
template <typename Key, typename Value>
class LruCache {
 public:
  explicit LruCache(size_t capacity) : capacity_(capacity) {}

  // The value of `key`, which leaves the cache: whoever has used it puts it back.
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
