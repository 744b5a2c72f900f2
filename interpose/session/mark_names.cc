// SPDX-License-Identifier: Apache-2.0
#include "interpose/session/mark_names.h"

#include <atomic>
#include <cstring>

#include "interpose/base/concurrent_table.h"
#include "interpose/base/system_call.h"

namespace vramtrack {
namespace {

// Each name takes up to 300 bytes in the trace, and in a trace of bounded size it stays there.
constexpr uint32_t kExactNames = 4096, kMaxNames = 16384;
constexpr uint64_t kDomainsOwn = 0x5bd1e9955bd1e995;  // tells a domain's own name from a range's

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWord(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}

uint64_t HashOf(const char* text, size_t length) {
  uint64_t h = 14695981039346656037u;
  for (size_t i = 0; i < length; ++i) h = (h ^ static_cast<unsigned char>(text[i])) * 1099511628211u;
  return h == 0 ? 1 : h;
}

uint64_t Mixed(uint64_t a, uint64_t b) {
  const uint64_t h = (a ^ (b + 0x9e3779b97f4a7c15)) * 0xd6e8feb86659fd93;
  return (h ^ h >> 32) == 0 ? 1 : h ^ h >> 32;
}

// `domain`: the Name of the domain, 0 for the default one; a domain's own Name: UINT32_MAX. 0 where it has no room.
uint32_t Define(const char* text, size_t length, uint32_t domain, uint64_t hash, Session* session,
                EventWriter* writer) {
  Session::Names& names = session->names();
  // Two threads may give one text two numbers.
  const uint32_t id = names.count.fetch_add(1, std::memory_order_relaxed) + 1;
  const bool defined =
      writer->Define<PlainName::kMaxBytes + 64>(schema::definitions_field::names, [&](MessageWriter* out) {
        out->Varint(schema::name_field::id, id);
        out->Bytes(schema::name_field::text, text, length);
        out->Varint(schema::name_field::domain, domain == UINT32_MAX ? id : domain);
      });
  if (!defined) return 0;
  names.by_hash.Insert(hash, id);
  return id;
}

}  // namespace

PlainName::PlainName(const char* text, bool coarse) {
  size_t word = 0;  // where the word began, in text_
  bool has_digit = false;
  for (size_t i = 0; text[i] != '\0' && length_ < kMaxBytes;) {
    if (!IsWord(text[i])) has_digit = false;
    if (!IsDigit(text[i])) {
      // What follows a number in its word is the number's.
      if (!coarse || !has_digit) text_[length_++] = text[i];
      if (!IsWord(text[i++])) word = length_;
      continue;
    }
    number_ = 0;
    bool too_large = false;
    for (; IsDigit(text[i]); ++i) {
      const auto digit = static_cast<uint64_t>(text[i] - '0');
      too_large |= number_ > (UINT64_MAX - digit) / 10;
      number_ = 10 * number_ + digit;
    }
    if (too_large) number_ = UINT64_MAX;
    if (coarse) length_ = word;
    text_[length_++] = '#';
    has_digit = true;
  }
}

uint64_t PlainName::Hash() const { return HashOf(text_, length_); }

uint32_t DomainName(const char* domain, Session* session, EventWriter* writer) {
  if (domain == nullptr) return 0;
  Session::Names& names = session->names();
  const size_t length = std::strlen(domain);
  const uint64_t hash = Mixed(HashOf(domain, length), kDomainsOwn);
  if (const uint64_t known = names.by_hash.Find(hash)) return static_cast<uint32_t>(known);
  if (names.count.load(std::memory_order_relaxed) >= kMaxNames) return 0;
  return Define(domain, length, UINT32_MAX, hash, session, writer);
}

MarkName NameOf(const char* text, const char* domain, Session* session, EventWriter* writer) {
  Session::Names& names = session->names();
  const uint32_t domain_name = DomainName(domain, session, writer);
  for (bool coarse = false;; coarse = true) {
    const PlainName plain(text, coarse);
    const uint64_t hash = domain_name == 0 ? plain.Hash() : Mixed(plain.Hash(), domain_name);
    if (const uint64_t known = names.by_hash.Find(hash)) return {static_cast<uint32_t>(known), plain.number()};
    const uint32_t count = names.count.load(std::memory_order_relaxed);
    if (coarse && count >= kMaxNames) return {0, plain.number()};
    if (coarse || count < kExactNames) {
      return {Define(plain.text(), plain.length(), domain_name, hash, session, writer), plain.number()};
    }
  }
}

const char* KeptText(const char* text) {
  constexpr size_t kRoom = 1 << 20;
  static std::atomic<char*> room{nullptr};
  static std::atomic<size_t> used{0};
  static ConcurrentTable known;
  const size_t length = strnlen(text, PlainName::kMaxBytes);
  const uint64_t hash = HashOf(text, length);
  if (const uint64_t kept = known.Find(hash)) {
    const auto* const same = reinterpret_cast<const char*>(kept);
    if (std::strlen(same) == length && std::memcmp(same, text, length) == 0) return same;
  }
  char* at = room.load(std::memory_order_acquire);
  if (at == nullptr) {
    auto* const mine = static_cast<char*>(MapPrivate(kRoom));
    if (mine == nullptr) return nullptr;
    if (room.compare_exchange_strong(at, mine)) {
      at = mine;
    } else {
      Unmap(mine, kRoom);
    }
  }
  const size_t bytes = length + 1;  // the last one stays zero
  const size_t begin = used.fetch_add(bytes, std::memory_order_relaxed);
  if (begin + bytes > kRoom) {
    used.fetch_sub(bytes, std::memory_order_relaxed);
    return nullptr;
  }
  std::memcpy(at + begin, text, length);
  known.Insert(hash, reinterpret_cast<uint64_t>(at + begin));
  return at + begin;
}

}  // namespace vramtrack
