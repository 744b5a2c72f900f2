// SPDX-License-Identifier: Apache-2.0
#include "analyzer/summary/stack_table.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "analyzer/model/frame.h"
#include "analyzer/summary/summary_fields.h"
#include "analyzer/summary/summary_reader.h"
#include "analyzer/summary/summary_writer.h"
#include "proto/pbf_reader.h"

namespace vramtrack {

std::string Hash128(std::string_view bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  return std::string(reinterpret_cast<const char*>(canonical.digest), sizeof(canonical.digest));
}

uint32_t StackTable::Intern(std::string encoded, const ReportFrame& decoded) {
  const auto [found, is_new] = number_of_frame_.try_emplace(encoded, static_cast<uint32_t>(frames_.size()));
  if (is_new) frames_.push_back({std::move(encoded), decoded});
  return found->second;
}

StackKey StackTable::Add(const std::vector<ReportFrame>& frames) {
  std::vector<std::string> encoded;
  std::string whole;
  protozero::pbf_writer writer(whole);
  for (const ReportFrame& frame : frames) {
    encoded.push_back(SummaryWriter::Encode(frame, nullptr));
    writer.add_string(1, encoded.back());
  }
  StackKey key = Hash128(whole);
  const auto [found, is_new] = stacks_.try_emplace(key);
  if (is_new) {
    for (size_t i = 0; i < frames.size(); ++i) found->second.push_back(Intern(std::move(encoded[i]), frames[i]));
  }
  return key;
}

void StackTable::Copy(const StackTable& other, const StackKey& key) {
  const auto source = other.stacks_.find(key);
  if (source == other.stacks_.end()) return;
  const auto [found, is_new] = stacks_.try_emplace(key);
  if (!is_new) return;
  for (const uint32_t frame : source->second) {
    found->second.push_back(Intern(other.frames_[frame].encoded, other.frames_[frame].decoded));
  }
}

bool StackTable::Find(const StackKey& key, std::vector<ReportFrame>* frames) const {
  const auto found = stacks_.find(key);
  if (found == stacks_.end()) return false;
  frames->clear();
  for (const uint32_t frame : found->second) frames->push_back(frames_[frame].decoded);
  return true;
}

void StackTable::AppendTo(std::string* message) const {
  protozero::pbf_writer writer(*message);
  std::vector<uint32_t> order(frames_.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [this](uint32_t a, uint32_t b) { return frames_[a].encoded < frames_[b].encoded; });
  std::vector<uint64_t> place(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    writer.add_string(kSummaryFrame, frames_[order[i]].encoded);
  }
  std::string stack;
  std::vector<uint64_t> places;
  for (const auto& [key, frames] : stacks_) {
    stack.clear();
    places.clear();
    for (const uint32_t frame : frames) places.push_back(place[frame]);
    protozero::pbf_writer of_stack(stack);
    of_stack.add_string(kStackKey, key);
    of_stack.add_packed_uint64(kStackFrames, places.begin(), places.end());
    writer.add_string(kSummaryStack, stack);
  }
}

void StackTable::AddFrame(std::string_view frame) {
  static const StackTable* const none = new StackTable;
  ReportFrame decoded;
  SummaryReader::Decode(frame, RecordStacks(*none, {}), &decoded);
  if (decoded.origin > ReportFrame::Origin::kTruncated) decoded.origin = ReportFrame::Origin::kJob;
  read_.push_back(Intern(std::string(frame), decoded));
}

void StackTable::AddStack(std::string_view stack) {
  protozero::pbf_reader reader(stack.data(), stack.size());
  StackKey key;
  std::vector<uint32_t> frames;
  while (reader.next()) {
    if (reader.tag() == kStackKey) {
      key = reader.get_string();
    } else if (reader.tag() == kStackFrames) {
      for (const uint64_t frame : reader.get_packed_uint64()) {
        if (frame >= read_.size()) throw std::runtime_error("a frame is missing");
        frames.push_back(read_[frame]);
      }
    } else {
      reader.skip();
    }
  }
  if (key.size() != kStackKeyBytes || frames.empty() || frames.size() > kMostStackFrames)
    throw std::runtime_error("a stack is none");
  stacks_.try_emplace(std::move(key), std::move(frames));
}

uint64_t RecordStacks::Number(const std::vector<ReportFrame>& frames) {
  StackKey key = to_->Add(frames);
  const auto [found, is_new] = numbers_.try_emplace(key, keys_.size());
  if (is_new) keys_.push_back(std::move(key));
  return found->second;
}

void RecordStacks::Find(uint64_t number, std::vector<ReportFrame>* frames) const {
  if (number >= keys_.size() || !table_->Find(keys_[number], frames)) throw std::runtime_error("a stack is missing");
}

}  // namespace vramtrack
