// SPDX-License-Identifier: Apache-2.0
#include "proto/testing/holder_walk_builder.h"

#include <algorithm>

#include "proto/frame.h"
#include "proto/varint.h"

namespace vramtrack {
namespace {

namespace f = schema::holderWalk_field;

void Varint(uint64_t value, std::string* out) {
  uint8_t bytes[kMaxVarintBytes];
  out->append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(PutVarint(bytes, value) - bytes));
}

void Number(uint32_t field, uint64_t value, std::string* out) {
  if (value == 0) return;
  Varint(field << 3, out);
  Varint(value, out);
}

void Bytes(uint32_t field, const std::string& bytes, std::string* out) {
  Varint(field << 3 | 2, out);
  Varint(bytes.size(), out);
  *out += bytes;
}

void Column(uint32_t field, const std::vector<uint64_t>& values, std::string* out) {
  if (values.empty()) return;
  std::string column;
  for (const uint64_t value : values) Varint(value, &column);
  Bytes(field, column, out);
}

}  // namespace

uint32_t HolderWalkBuilder::Name(const std::string& name) {
  if (name.empty()) return 0;
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found != names_.end()) return static_cast<uint32_t>(found - names_.begin()) + 1;
  names_.push_back(name);
  return static_cast<uint32_t>(names_.size());
}

uint32_t HolderWalkBuilder::Path(uint32_t parent, schema::HolderStep step, const std::string& name,
                                 const std::string& type, uint64_t entries, uint64_t objects, const std::string& file) {
  const uint64_t row[] = {parent, step, Name(name), Name(type), entries, objects, Name(file)};
  for (size_t i = 0; i < 7; ++i) path_[i].push_back(row[i]);
  limits_.push_back(0);
  return static_cast<uint32_t>(path_[0].size());
}

uint32_t HolderWalkBuilder::Shape(const std::vector<uint64_t>& sizes) {
  shape_dimensions_.push_back(sizes.size());
  shape_sizes_.insert(shape_sizes_.end(), sizes.begin(), sizes.end());
  return static_cast<uint32_t>(shape_dimensions_.size());
}

void HolderWalkBuilder::Block(uint64_t address, uint32_t path, uint32_t flags, const std::string& type, uint32_t dtype,
                              uint32_t shape, uint32_t device) {
  blocks_.insert({address, {device, path, Name(type), dtype, shape, flags}});
}

std::string HolderWalkBuilder::Frame() const {
  std::string payload;
  if (generation_ != 0) {
    Varint(f::generation << 3 | 5, &payload);
    payload.append(reinterpret_cast<const char*>(&generation_), sizeof generation_);
  }
  Number(f::walk, walk_, &payload);
  Number(f::part, part_, &payload);
  Number(f::last, last_, &payload);
  Number(f::moment, moment_, &payload);
  Number(f::stopped, stopped_, &payload);
  Number(f::begin_ticks, begin_ticks_, &payload);
  Number(f::end_ticks, end_ticks_, &payload);
  Number(f::objects, objects_, &payload);
  Number(f::tensors, tensors_, &payload);
  for (const std::string& name : names_) Bytes(f::names, name, &payload);
  for (uint32_t i = 0; i < 7; ++i) Column(f::path_parent + i, path_[i], &payload);
  Column(f::shape_dimensions, shape_dimensions_, &payload);
  Column(f::shape_sizes, shape_sizes_, &payload);
  std::vector<uint64_t> block[7];
  uint64_t last = 0;
  for (const auto& [address, row] : blocks_) {
    const uint64_t values[] = {address - last, row.device, row.path, row.type, row.dtype, row.shape, row.flags};
    for (size_t i = 0; i < 7; ++i) block[i].push_back(values[i]);
    last = address;
  }
  for (uint32_t i = 0; i < 7; ++i) Column(f::block_address + i, block[i], &payload);
  Column(f::path_limit, limits_, &payload);
  std::string frame(kSealedPrefixBytes, '\0');
  frame += payload;
  SealFrame(reinterpret_cast<uint8_t*>(&frame[0]), schema::trace_field::holder_walks, payload.size());
  return frame;
}

}  // namespace vramtrack
