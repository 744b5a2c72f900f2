// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_BASE_GZIP_H_
#define ANALYZER_BASE_GZIP_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace vramtrack {

enum class GzipEffort { kFast, kUsual };

// Compresses like `gzip -n`, without name and time: the same bytes give the same file.
std::string Gzip(std::string_view bytes, GzipEffort effort = GzipEffort::kUsual);

struct Gunzipped {
  std::string bytes;      // the content, up to the damage if there is any
  bool complete = false;  // everything was read, and the checksum is right
  bool too_large = false;
};
// Decompresses `bytes`. If the content has more than `most_bytes`, returns no bytes and sets too_large: a small file
// can expand to a thousand times its size.
Gunzipped Gunzip(std::string_view bytes, uint64_t most_bytes);

}  // namespace vramtrack

#endif  // ANALYZER_BASE_GZIP_H_
