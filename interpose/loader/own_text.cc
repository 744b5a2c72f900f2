// SPDX-License-Identifier: Apache-2.0
//
// The C library's string functions that this library calls, as hidden copies for this library only. Sanitizers
// interpose their own versions, which look up the real ones with dlsym and call a null pointer until then; the dlsym of
// this library must not call those.
#include <cstddef>
#include <cstdint>

// Declared under another name, because the compiler treats the name itself as visible.
#define VRAMTRACK_OWN(result, name, parameters)                                                   \
  extern "C" __attribute__((visibility("hidden"), used)) result own_##name parameters asm(#name); \
  extern "C" __attribute__((optimize("no-tree-loop-distribute-patterns"))) result own_##name parameters

VRAMTRACK_OWN(size_t, strlen, (const char* text)) {
  size_t length = 0;
  while (text[length] != '\0') ++length;
  return length;
}

VRAMTRACK_OWN(size_t, strnlen, (const char* text, size_t most)) {
  size_t length = 0;
  while (length < most && text[length] != '\0') ++length;
  return length;
}

VRAMTRACK_OWN(int, strncmp, (const char* a, const char* b, size_t most)) {
  for (size_t i = 0; i < most; ++i) {
    const unsigned char x = static_cast<unsigned char>(a[i]), y = static_cast<unsigned char>(b[i]);
    if (x != y) return x < y ? -1 : 1;
    if (x == '\0') break;
  }
  return 0;
}

VRAMTRACK_OWN(int, strcmp, (const char* a, const char* b)) { return own_strncmp(a, b, SIZE_MAX); }

VRAMTRACK_OWN(char*, strchr, (const char* text, int wanted)) {
  for (;; ++text) {
    if (*text == static_cast<char>(wanted)) return const_cast<char*>(text);
    if (*text == '\0') return nullptr;
  }
}

VRAMTRACK_OWN(char*, strrchr, (const char* text, int wanted)) {
  char* last = nullptr;
  for (;; ++text) {
    if (*text == static_cast<char>(wanted)) last = const_cast<char*>(text);
    if (*text == '\0') return last;
  }
}
