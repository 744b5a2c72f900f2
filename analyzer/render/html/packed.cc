// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/html/packed.h"

#include <zlib.h>

#include <algorithm>
#include <climits>
#include <cstdlib>

#include "absl/strings/escaping.h"

namespace vramtrack {
namespace {

constexpr int kLevel = 6;             // 9 takes three times as long for a hundredth less
constexpr int kGzipWindow = 15 + 16;  // zlib's way to ask for a gzip header, without a time
constexpr int kMemoryLevel = 9;
constexpr size_t kPieceBytes = 1 << 16;

}  // namespace

std::string GzipBase64(std::string_view text) {
  z_stream stream{};
  // Fails only for want of memory.
  if (deflateInit2(&stream, kLevel, Z_DEFLATED, kGzipWindow, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK) abort();
  std::string packed;
  std::string piece(kPieceBytes, '\0');
  int state = Z_OK;
  size_t at = 0;
  while (state != Z_STREAM_END) {
    if (stream.avail_in == 0 && at < text.size()) {
      const size_t bytes = std::min<size_t>(text.size() - at, INT_MAX);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data() + at));
      stream.avail_in = static_cast<uInt>(bytes);
      at += bytes;
    }
    stream.next_out = reinterpret_cast<Bytef*>(&piece[0]);
    stream.avail_out = static_cast<uInt>(piece.size());
    state = deflate(&stream, at < text.size() ? Z_NO_FLUSH : Z_FINISH);
    packed.append(piece, 0, piece.size() - stream.avail_out);
  }
  deflateEnd(&stream);
  std::string encoded;
  absl::Base64Escape(absl::string_view(packed.data(), packed.size()), &encoded);
  return encoded;
}

}  // namespace vramtrack
