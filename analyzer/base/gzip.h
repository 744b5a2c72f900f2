// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_BASE_GZIP_H_
#define ANALYZER_BASE_GZIP_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace vramtrack {

enum class GzipEffort { kFast, kUsual };

// As `gzip -n`: the same bytes give the same file.
std::string Gzip(std::string_view bytes, GzipEffort effort = GzipEffort::kUsual);

struct Gunzipped {
  std::string bytes;      // up to the damage, if there is any
  bool complete = false;  // to the end, and the checksum is right
  bool too_large = false;
};
// Nothing, and too_large, if it unpacks to more than `most_bytes`: a small file can unfold into a thousand times its
// size.
Gunzipped Gunzip(std::string_view bytes, uint64_t most_bytes);

}  // namespace vramtrack

#endif  // ANALYZER_BASE_GZIP_H_
