// SPDX-License-Identifier: Apache-2.0
#include "interpose/session/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstring>

#include "interpose/base/message.h"
#include "interpose/base/system_call.h"
#include "interpose/session/environment.h"
#include "interpose/stacks/native_stack.h"

namespace vramtrack {
namespace {

constexpr char kDefaultOutput[] = "vramtrack.%p.vtrace";
constexpr size_t kDefaultFrames = 128;

// A whole number with an optional K, M, G or T (powers of 1024). False for anything else.
bool ParseSize(const char* text, uint64_t* value) {
  char* end;
  if (*text < '0' || *text > '9') return false;
  *value = strtoull(text, &end, 10);
  static constexpr char kUnits[] = "KMGT";
  if (*end != '\0') {
    const char* unit = strchr(kUnits, *end);
    if (unit == nullptr || end[1] != '\0') return false;
    const int shift = 10 * static_cast<int>(unit - kUnits + 1);
    if (*value >> (64 - shift) != 0) return false;
    *value <<= shift;
  }
  return true;
}

// A list of native and python, or none. False, with nothing changed, for anything else.
bool ParseStacks(const char* text, Options* options) {
  bool native = false, python = false;
  if (strcmp(text, "none") != 0) {
    for (const char* word = text;; ++word) {
      const size_t length = strcspn(word, ",");
      if (length == 6 && strncmp(word, "native", 6) == 0) {
        native = true;
      } else if (length == 6 && strncmp(word, "python", 6) == 0) {
        python = true;
      } else {
        return false;
      }
      word += length;
      if (*word == '\0') break;
    }
  }
  options->native_stacks = native;
  options->python_stacks = python;
  return true;
}

// False where the path is too long.
bool FillPattern(const char* pattern, const char* folder, char* path) {
  size_t used = 0;
  const auto put = [&](const char* format, auto value) {
    const size_t room = Options::kPathBytes - used;
    const auto length = static_cast<size_t>(snprintf(path + used, room, format, value));
    used += length < room ? length : room;
  };
  // A relative path is that of the start, wherever the program has gone since.
  static char here[Options::kPathBytes];
  if (*folder == '\0' && WorkingDirectory(here, sizeof here)) folder = here;
  if (pattern[0] != '/' && *folder != '\0') put("%s/", folder);
  utsname host;
  for (const char* c = pattern; *c != '\0' && used < Options::kPathBytes; ++c) {
    if (c[0] != '%' || c[1] == '\0') {
      put("%c", *c);
      continue;
    }
    switch (*++c) {
      case 'p':
        put("%ld", static_cast<long>(getpid()));
        break;
      case 'h':
        put("%s", uname(&host) == 0 ? host.nodename : "localhost");
        break;
      case 'r':
        put("%d", RankOfProcess() < 0 ? 0 : RankOfProcess());
        break;
      case '%':
        put("%c", '%');
        break;
      default:
        put("%%%c", *c);
    }
  }
  return used < Options::kPathBytes;
}

}  // namespace

bool ReadOptions(Options* options) {
  const Environment* start = Environment::AtStart();
  if (start == nullptr) {
    Say("not recording: out of memory");
    return false;
  }
  const char* output = start->Find("VRAMTRACK_OUTPUT");
  if (!FillPattern(output != nullptr && *output != '\0' ? output : kDefaultOutput, start->folder(), options->output)) {
    Say("not recording: the name in VRAMTRACK_OUTPUT is too long");
    return false;
  }

  const char* stacks = start->Find("VRAMTRACK_STACKS");
  options->native_stacks = options->python_stacks = true;
  if (stacks != nullptr && !ParseStacks(stacks, options)) {
    Say("VRAMTRACK_STACKS: invalid value '%s' (expected native, python, native,python or none); using native,python",
        stacks);
  }

  const char* frames = start->Find("VRAMTRACK_MAX_FRAMES");
  uint64_t value = kDefaultFrames;
  if (frames != nullptr && (!ParseSize(frames, &value) || value < 1 || value > kMaxFrames)) {
    Say("VRAMTRACK_MAX_FRAMES: invalid number '%s' (expected 1 to %d); using %d", frames, static_cast<int>(kMaxFrames),
        static_cast<int>(kDefaultFrames));
    value = kDefaultFrames;
  }
  options->max_frames = value;

  const char* bytes = start->Find("VRAMTRACK_MAX_BYTES");
  options->max_bytes = UINT64_MAX;
  if (bytes != nullptr && *bytes != '\0' && !ParseSize(bytes, &options->max_bytes)) {
    Say("VRAMTRACK_MAX_BYTES: invalid size '%s' (examples: 500M, 2G); the trace has no size limit", bytes);
    options->max_bytes = UINT64_MAX;
  }

  const char* holders = start->Find("VRAMTRACK_HOLDERS");
  options->holders = {};
  if (holders != nullptr && !ParseHolderMoments(holders, &options->holders)) {
    Say("VRAMTRACK_HOLDERS: invalid value '%s' (expected growth, oom, exit, request, all, or a duration such as 30s); "
        "holders are not looked for",
        holders);
    options->holders = {};
  }
  if (options->holders.any() && !options->python_stacks) {
    Say("VRAMTRACK_HOLDERS needs Python stacks, which VRAMTRACK_STACKS turns off; holders are not looked for");
    options->holders = {};
  }
  const char* dormant = start->Find("VRAMTRACK_DORMANT");
  options->dormant = dormant != nullptr && strcmp(dormant, "1") == 0;
  return true;
}

bool NumberedPath(const char* path, uint64_t number, char* numbered, size_t capacity) {
  const char* slash = strrchr(path, '/');
  const char* name = slash != nullptr ? slash + 1 : path;
  const char* dot = strrchr(name, '.');
  if (dot == nullptr || dot == name) dot = name + strlen(name);
  const int written = snprintf(numbered, capacity, "%.*s.%llu%s", static_cast<int>(dot - path), path,
                               static_cast<unsigned long long>(number), dot);
  return written > 0 && static_cast<size_t>(written) < capacity;
}

}  // namespace vramtrack
