// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <new>

namespace vramtrack {
namespace {

constexpr int kGzipWindow = 15 + 16;
constexpr size_t kPiece = 1 << 20;

// Hands zlib what is next.
void Feed(std::string_view* bytes, z_stream* stream) {
  if (stream->avail_in != 0 || bytes->empty()) return;
  const size_t next = std::min<size_t>(bytes->size(), 1u << 30);
  stream->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes->data()));
  stream->avail_in = static_cast<uInt>(next);
  bytes->remove_prefix(next);
}

// Hands on what is unpacked, piece by piece, up to the damage if there is any; `take` may end it. True: to the end.
template <typename Take>
bool Inflate(std::string_view bytes, const Take& take) {
  z_stream stream = {};
  if (inflateInit2(&stream, kGzipWindow) != Z_OK) throw std::bad_alloc();
  std::string piece(kPiece, '\0');
  int result = Z_OK;
  bool more = true;
  while (result == Z_OK && more) {
    Feed(&bytes, &stream);
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = kPiece;
    result = inflate(&stream, Z_NO_FLUSH);
    more = take(std::string_view(piece.data(), kPiece - stream.avail_out));
  }
  inflateEnd(&stream);
  return result == Z_STREAM_END && more;
}

}  // namespace

std::string Gzip(std::string_view bytes, GzipEffort effort) {
  z_stream stream = {};
  const int level = effort == GzipEffort::kFast ? Z_BEST_SPEED : Z_DEFAULT_COMPRESSION;
  if (deflateInit2(&stream, level, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
  std::string packed;
  std::string piece(std::min<size_t>(kPiece, deflateBound(&stream, bytes.size())), '\0');
  int result = Z_OK;
  while (result != Z_STREAM_END) {
    Feed(&bytes, &stream);
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    result = deflate(&stream, bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
    packed.append(piece.data(), piece.size() - stream.avail_out);
  }
  deflateEnd(&stream);
  return packed;
}

Gunzipped Gunzip(std::string_view bytes, uint64_t most_bytes) {
  Gunzipped unpacked;
  // First pass: measure. The second one then allocates once, and only if the result is not too large.
  uint64_t size = 0;
  Inflate(bytes, [&](std::string_view piece) {
    size += piece.size();
    unpacked.too_large = size > most_bytes;
    return !unpacked.too_large;
  });
  if (unpacked.too_large) return unpacked;
  unpacked.bytes.reserve(size);
  unpacked.complete = Inflate(bytes, [&](std::string_view piece) {
    unpacked.bytes.append(piece);
    return true;
  });
  return unpacked;
}

}  // namespace vramtrack
