// SPDX-License-Identifier: Apache-2.0
#include "interpose/hooks/mark_names.h"

#include <atomic>
#include <cstring>

#include "interpose/recorder/system_call.h"
#include "proto/message_writer.h"

namespace vramtrack {
namespace {

constexpr size_t kMaxBytes = 200;
constexpr uint32_t kMaxNames = 65536;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

struct Normal {
  char text[kMaxBytes];
  size_t length = 0;
  uint64_t number = 0;

  explicit Normal(const char* from) {
    for (size_t i = 0; from[i] != '\0' && length < kMaxBytes;) {
      if (!IsDigit(from[i])) {
        text[length++] = from[i++];
        continue;
      }
      for (number = 0; IsDigit(from[i]); ++i) number = 10 * number + static_cast<uint64_t>(from[i] - '0');
      text[length++] = '#';
    }
  }
  uint64_t Hash() const {
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < length; ++i) h = (h ^ static_cast<unsigned char>(text[i])) * 1099511628211u;
    return h == 0 ? 1 : h;
  }
};

}  // namespace

MarkName NameOf(const char* text, Call* call) {
  const Normal normal(text);
  Session::Names& names = call->session()->names();
  const uint64_t hash = normal.Hash();
  if (const uint64_t known = names.by_hash.Find(hash)) return {static_cast<uint32_t>(known), normal.number};
  if (names.count.load(std::memory_order_relaxed) >= kMaxNames) return {0, normal.number};
  // Two threads may give one text two numbers.
  const uint32_t id = names.count.fetch_add(1, std::memory_order_relaxed) + 1;
  uint8_t buffer[kMaxBytes + 64];
  MessageWriter out(buffer, sizeof buffer);
  uint8_t* message = out.Begin(schema::definitions_field::names);
  out.Varint(schema::name_field::id, id);
  out.Bytes(schema::name_field::text, normal.text, normal.length);
  out.End(message);
  if (!call->lane()->DefineEncoded(buffer, out.size())) return {0, normal.number};
  names.by_hash.Insert(hash, id);
  return {id, normal.number};
}

const char* KeptText(const char* text) {
  constexpr size_t kRoom = 1 << 20;
  static std::atomic<char*> room{nullptr};
  static std::atomic<size_t> used{0};
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
  const size_t bytes = strnlen(text, kMaxBytes) + 1;  // the last one stays zero
  const size_t begin = used.fetch_add(bytes, std::memory_order_relaxed);
  if (begin + bytes > kRoom) {
    used.fetch_sub(bytes, std::memory_order_relaxed);
    return nullptr;
  }
  std::memcpy(at + begin, text, bytes - 1);
  return at + begin;
}

}  // namespace vramtrack
