// SPDX-License-Identifier: Apache-2.0
#include "interpose/hooks/table/operands.h"

namespace vramtrack {
namespace {

// CUarray_format, as cuda.h numbers them: bits of an element.
unsigned ElementBits(int format, unsigned channels) {
  switch (format) {
    case 0x01:  // 8-bit integers
    case 0x08:
      return 8 * channels;
    case 0x02:  // 16 bits
    case 0x09:
    case 0x10:
      return 16 * channels;
    case 0x03:  // 32 bits
    case 0x0a:
    case 0x20:
      return 32 * channels;
    case 0x50:  // 10, 10, 10 and 2 bits
      return 32;
    case 0xb0:  // NV12: a quarter of the colours
      return 12;
    case 0x91:  // blocks of 4 by 4 in 8 bytes
    case 0x92:
    case 0x97:
    case 0x98:
      return 4;
    default:
      break;
  }
  if (format >= 0x93 && format <= 0x9e) return 8;  // blocks of 4 by 4 in 16 bytes
  if (format >= 0xc0 && format <= 0xcb) {          // normalized integers: 8X1, 8X2, 8X4, 16X1, ... twice
    const unsigned which = static_cast<unsigned>(format - 0xc0) % 6;
    return (which < 3 ? 8u : 16u) << which % 3;
  }
  return 0;
}

uint64_t LevelBytes(const cuda::Extent& extent, unsigned bits) {
  return (extent.width * AtLeastOne(extent.height) * AtLeastOne(extent.depth) * bits + 7) / 8;
}

uint64_t AllLevels(cuda::Extent extent, unsigned levels, unsigned bits) {
  uint64_t bytes = 0;
  for (unsigned level = 0; level < levels && level < 32; ++level) {
    bytes += LevelBytes(extent, bits);
    extent = {AtLeastOne(extent.width / 2), extent.height / 2, extent.depth / 2};
  }
  return bytes;
}

unsigned ElementBits(const cuda::ChannelFormatDesc& desc) {
  return static_cast<unsigned>(desc.x + desc.y + desc.z + desc.w);
}

}  // namespace

uint64_t Volume(const cuda::Extent& extent, size_t row_bytes) {
  return row_bytes * AtLeastOne(extent.height) * AtLeastOne(extent.depth);
}

uint64_t Elements(const cuda::ChannelFormatDesc* desc, const cuda::Extent& extent) {
  return desc == nullptr ? 0 : LevelBytes(extent, ElementBits(*desc));
}

uint64_t MipElements(const cuda::ChannelFormatDesc* desc, cuda::Extent extent, unsigned levels) {
  return desc == nullptr ? 0 : AllLevels(extent, levels, ElementBits(*desc));
}

uint64_t ArrayBytes(const cuda::ArrayDescriptor* desc) {
  if (desc == nullptr) return 0;
  return LevelBytes({desc->width, desc->height, 0}, ElementBits(desc->format, desc->channels));
}

uint64_t Array3DBytes(const cuda::Array3DDescriptor* desc, unsigned levels) {
  if (desc == nullptr) return 0;
  return AllLevels({desc->width, desc->height, desc->depth}, levels, ElementBits(desc->format, desc->channels));
}

}  // namespace vramtrack
