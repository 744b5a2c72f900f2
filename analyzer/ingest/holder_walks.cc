// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ingest/holder_walks.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/holder_walk_decoder.h"

namespace vramtrack {
namespace {

// The parts of a walk that were read so far.
struct Parts {
  HolderWalk walk;
  uint32_t count = 0, last = UINT32_MAX;
  std::map<std::string, uint32_t> shapes;  // 1 + index in walk.shapes
};

// Longer names come from damage.
constexpr size_t kMaxName = 512;

std::string NameAt(const DecodedHolderWalk& part, uint32_t reference) {
  return reference == 0 ? "" : std::string(part.names[reference - 1].substr(0, kMaxName));
}

// By PyTorch's ScalarType (c10/core/ScalarType.h).
const char* DataTypeName(uint32_t type) {
  static constexpr const char* kNames[] = {"uint8",           "int8",
                                           "int16",           "int32",
                                           "int64",           "float16",
                                           "float32",         "float64",
                                           "complex32",       "complex64",
                                           "complex128",      "bool",
                                           "qint8",           "quint8",
                                           "qint32",          "bfloat16",
                                           "quint4x2",        "quint2x4",
                                           "bits1x8",         "bits2x4",
                                           "bits4x2",         "bits8",
                                           "bits16",          "float8_e5m2",
                                           "float8_e4m3fn",   "float8_e5m2fnuz",
                                           "float8_e4m3fnuz", "uint16",
                                           "uint32",          "uint64"};
  return type < std::size(kNames) ? kNames[type] : "unknown";
}

// 1 + index in the walk's shapes; 0 if nothing is known.
uint32_t ShapeOf(const DecodedHolderWalk& part, const DecodedHolderBlock& block, Parts* parts) {
  if (block.shape == 0 || block.dtype == 0) return 0;
  const std::string text =
      absl::StrCat(DataTypeName(block.dtype - 1), " [", absl::StrJoin(part.shapes[block.shape - 1], ", "), "]");
  const auto [found, inserted] = parts->shapes.try_emplace(text, parts->walk.shapes.size() + 1);
  if (inserted) parts->walk.shapes.push_back(text);
  return found->second;
}

void AddPart(const DecodedHolderWalk& part, HolderPaths* paths, Parts* parts) {
  HolderWalk& walk = parts->walk;
  if (parts->count == 0) {
    walk.number = part.walk;
    walk.moment = part.moment;
    walk.begin_ticks = part.begin_ticks;
  }
  ++parts->count;
  if (part.last) parts->last = part.part;
  // What is known at the end only counts as of the part that says most.
  walk.stopped = std::max(walk.stopped, part.stopped);
  walk.begin_ticks = std::min(walk.begin_ticks, part.begin_ticks);
  walk.end_ticks = std::max(walk.end_ticks, part.end_ticks);
  walk.objects = std::max(walk.objects, part.objects);
  walk.tensors = std::max(walk.tensors, part.tensors);
  std::vector<HolderPathIndex> path_of_row;
  for (const DecodedHolderPath& row : part.paths) {
    const HolderPathIndex parent = row.parent == 0 ? HolderPathIndex::None() : path_of_row[row.parent - 1];
    const HolderPathIndex path = paths->Find(parent, row.step, NameAt(part, row.name), NameAt(part, row.file));
    path_of_row.push_back(path);
    WalkedPath& walked = walk.paths[path];
    if (walked.type.empty()) walked.type = NameAt(part, row.type);
    if (row.entries >= walked.entries) walked.limit = row.limit;
    walked.entries = std::max(walked.entries, row.entries);
    walked.objects = std::max(walked.objects, row.objects);
  }
  for (const DecodedHolderBlock& block : part.blocks) {
    const HolderPathIndex path = block.path == 0 ? HolderPathIndex::None() : path_of_row[block.path - 1];
    walk.blocks.push_back({block.address, DeviceIndex(std::min(block.device, kMaxDevice)), path, block.flags,
                           ShapeOf(part, block, parts)});
  }
}

// An address that is there twice is the same block: the entry with a path counts, with the flags of both.
void SortBlocks(std::vector<WalkedBlock>* blocks) {
  std::stable_sort(blocks->begin(), blocks->end(), [](const WalkedBlock& a, const WalkedBlock& b) {
    return a.address != b.address ? a.address < b.address : !a.path.is_none() && b.path.is_none();
  });
  size_t kept = 0;
  for (const WalkedBlock& block : *blocks) {
    if (kept > 0 && (*blocks)[kept - 1].address == block.address) {
      (*blocks)[kept - 1].flags |= block.flags;
    } else {
      (*blocks)[kept++] = block;
    }
  }
  blocks->resize(kept);
}

const std::string& kNoFile = *new std::string;

}  // namespace

HolderPathIndex HolderPaths::Find(HolderPathIndex parent, uint32_t step, const std::string& name,
                                  const std::string& file) {
  const uint32_t length = parent.is_none() ? 1 : steps_[parent].length + 1;
  if (length > kMaxSteps) return parent;
  // A module has one name, but loses its file when the interpreter ends. Functions of two files may have one name.
  const std::string& distinct_file = step == schema::HOLDER_MODULE ? kNoFile : file;
  const auto [found, inserted] = by_step_.try_emplace({parent, step, name, distinct_file}, steps_.next_index());
  if (inserted) steps_.push_back({parent, step, name, file, length});
  if (steps_[found->second].file.empty()) steps_[found->second].file = file;
  return found->second;
}

std::vector<HolderPathIndex> HolderPaths::StepsOf(HolderPathIndex path) const {
  std::vector<HolderPathIndex> steps;
  for (; !path.is_none(); path = steps_[path].parent) steps.push_back(path);
  std::reverse(steps.begin(), steps.end());
  return steps;
}

const WalkedPath& HolderWalk::At(HolderPathIndex path) const {
  static const WalkedPath& nothing = *new WalkedPath;
  const auto found = paths.find(path);
  return found == paths.end() ? nothing : found->second;
}

HolderWalks::HolderWalks(const Trace& trace) {
  std::map<uint32_t, Parts> parts;  // by number of the walk
  for (const FrameRef& frame : trace.holder_walks()) {
    DecodedHolderWalk part;
    if (!ReadHolderWalk(frame.payload, &part)) {
      ++malformed_frames_;
      continue;
    }
    AddPart(part, &paths_, &parts[part.walk]);
  }
  for (auto& [number, read] : parts) {
    read.walk.whole = read.last != UINT32_MAX && read.count == read.last + 1;
    SortBlocks(&read.walk.blocks);
    walks_.push_back(std::move(read.walk));
  }
  std::stable_sort(walks_.begin(), walks_.end(),
                   [](const HolderWalk& a, const HolderWalk& b) { return a.end_ticks < b.end_ticks; });
}

const char* HolderMomentText(uint32_t moment) {
  switch (moment) {
    case schema::HOLDERS_AT_GROWTH:
      return "when memory grew";
    case schema::HOLDERS_AT_OUT_OF_MEMORY:
      return "when memory was exhausted";
    case schema::HOLDERS_AT_REQUEST:
      return "on request";
    case schema::HOLDERS_AT_EXIT:
      return "at exit";
    case schema::HOLDERS_AT_INTERVAL:
      return "at an interval";
    default:
      return "for an unknown reason";
  }
}

const char* HolderStopText(uint32_t stopped) {
  switch (stopped) {
    case schema::HOLDERS_COMPLETE:
      return "";
    case schema::HOLDERS_OUT_OF_TIME:
      return "its time limit was reached";
    case schema::HOLDERS_TOO_MANY_OBJECTS:
      return "there were too many objects";
    case schema::HOLDERS_NO_MEMORY:
      return "the process had too little memory";
    default:
      return "for an unknown reason";
  }
}

}  // namespace vramtrack
