// SPDX-License-Identifier: Apache-2.0
#include "interpose/holders/walk_record.h"

#include <stdio.h>

#include <algorithm>
#include <cstring>

#include "interpose/python/frame_walk.h"
#include "proto/frame.h"
#include "proto/hash.h"
#include "proto/message_writer.h"

namespace vramtrack::holders {
namespace {

namespace f = schema::holderWalk_field;

constexpr size_t kMostNameBytes = 120;
// A longer path is cut.
constexpr uint32_t kMostSteps = 40;
// Bytes of a block's columns and of a path's, at most.
constexpr size_t kBlockBytes = 10 + 6 * 5, kRowBytes = 5 * 5 + 3 * 10, kShapeBytes = 60;
constexpr size_t kFixedBytes = 512;

uint64_t HashOf(const char* text, size_t size) {
  uint64_t hash = size + 1;
  for (size_t i = 0; i < size; ++i) hash = (hash ^ static_cast<uint8_t>(text[i])) * 0x100000001b3;
  return Mix(hash, size) | 1;
}

// dequeobject of CPython's _collectionsmodule.c and lru_cache_object of its _functoolsmodule.c, 3.8 to 3.14.
constexpr uint16_t kDequeLimit = 64, kCacheResults = 72, kCacheLimit = 96;

// A dict of lists is one container with its lists, if it has few.
constexpr int kMostLevels = 3;

// Names end like this when case and underscores are left out.
constexpr const char* kEndings[] = {"capacity", "maxsize",    "maxlen",    "maxentries",
                                    "maxitems", "buffersize", "cachesize", "queuesize"};

uint64_t LimitAt(uint64_t address) {
  const auto limit = Load<int64_t>(address);
  return limit > 0 ? static_cast<uint64_t>(limit) : 0;
}

uint64_t OwnLimit(uint64_t object, const TypeFacts& type, const PythonApi& api) {
  if (type.kind != TypeKind::kContainer) return 0;
  if (std::strcmp(NameOf(type.type), "collections.deque") == 0) return LimitAt(object + kDequeLimit);
  const uint64_t results = ResultsOfCache(object, type, api);
  return results != 0 && Load(object + kCacheResults) == results ? LimitAt(object + kCacheLimit) : 0;
}

bool IsNameOfLimit(uint64_t name, const PythonApi& api) {
  if (!IsText(name)) return false;
  char text[64];
  size_t size = 0;
  const size_t read = TextAsUtf8(api.interpreter->offsets(), name, text, sizeof text);
  for (size_t i = 0; i < read; ++i) {
    const char c = text[i];
    if (c != '_') text[size++] = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  for (const char* ending : kEndings) {
    const size_t length = std::strlen(ending);
    if (size >= length && std::memcmp(text + size - length, ending, length) == 0) return true;
  }
  return false;
}

// The smallest limit among attributes that so many entries do not exceed.
class Limits {
 public:
  Limits(uint64_t entries, const PythonApi& api) : entries_(entries), api_(api) {}

  void Add(uint64_t name, uint64_t value) {
    if (value == 0 || (FlagsOf(TypeOf(value)) & kIsIntType) == 0 || !IsNameOfLimit(name, api_)) return;
    int overflow = 0;
    const long long number = api_.int_value(value, &overflow);
    if (overflow != 0 || number <= 0) return;
    const auto limit = static_cast<uint64_t>(number);
    if (limit >= entries_ && (least_ == 0 || limit < least_)) least_ = limit;
  }
  uint64_t least() const { return least_; }

 private:
  uint64_t entries_;
  const PythonApi& api_;
  uint64_t least_ = 0;
};

// Returns the limit of a container with so many `entries`: maxlen of a deque, maxsize of an lru_cache, or a number that
// the object which has it as an attribute calls capacity, maxsize or the like. A limit that it is past is none. Returns
// 0 if there is none: a cache below its limit grows like a leak. `entry` is of a Python object.
uint64_t LimitOf(const Entry& entry, uint64_t entries, ObjectWalk* walk) {
  const PythonApi& api = walk->api();
  if (const uint64_t own = OwnLimit(entry.address, walk->FactsOf(entry.address), api)) return own >= entries ? own : 0;
  Limits limits(entries, api);
  const Entry* at = &entry;
  for (int level = 0; level < kMostLevels && at->parent != 0; ++level) {
    const Entry& owner = walk->reached()[at->parent];
    if (owner.kind != ObjectKind::kPython) return 0;
    const TypeFacts type = walk->FactsOf(owner.address);
    if ((owner.flags & kAttributes) != 0) {
      // Of a module or a class, numbers may be about anything.
      if (owner.step != schema::HOLDER_NONE || owner.parent == 0 || type.kind != TypeKind::kDict) return 0;
      const Entry& instance = walk->reached()[owner.parent];
      if (instance.kind != ObjectKind::kPython || walk->FactsOf(instance.address).kind != TypeKind::kPlain) return 0;
      intptr_t position = 0;
      uint64_t name, value;
      while (api.dict_next(owner.address, &position, &name, &value) != 0) limits.Add(name, value);
      return limits.least();
    }
    if (type.kind == TypeKind::kPlain) {
      const uint64_t* values = InlineAttributes(owner.address, type, api);
      for (uint32_t i = 0; values != nullptr && i < type.inline_names; ++i) {
        limits.Add(Load(type.inline_keys + 16 * i), values[i]);
      }
      return limits.least();
    }
    const bool container =
        type.kind == TypeKind::kDict || type.kind == TypeKind::kList || type.kind == TypeKind::kTuple;
    if (!container || EntriesOf(owner.address, type, api) > kFewEntries) return 0;
    at = &owner;
  }
  return 0;
}

}  // namespace

void WalkRecord::Begin(ObjectWalk* walk, const WalkFacts& facts) {
  walk_ = walk;
  facts_ = facts;
  good_ = true;
  HeldBlock* blocks = walk->blocks().data();
  const size_t count = walk->blocks().size();
  if (count > 0) {
    std::sort(blocks, blocks + count, [](const HeldBlock& a, const HeldBlock& b) { return a.address < b.address; });
  }
  tensors_ = count;
}

void WalkRecord::Free() {
  names_.Free();
  name_numbers_.Free();
  paths_.Free();
  rows_.Free();
  shapes_.Free();
  chain_.Free();
  block_rows_.Free();
  frame_.Free();
}

uint32_t WalkRecord::Name(const char* text, size_t size) {
  uint32_t* number = name_numbers_.Insert(HashOf(text, size));
  if (number == nullptr || !names_.Reserve(size + 16)) {
    good_ = false;
    return 0;
  }
  if (*number != 0) return *number;
  uint8_t head[16];
  MessageWriter out(head, sizeof head);
  out.Tag(f::names, 2);
  out.RawVarint(size);
  names_.AddMany(head, out.size());
  names_.AddMany(reinterpret_cast<const uint8_t*>(text), size);
  return *number = ++name_count_;
}

uint32_t WalkRecord::CodeName(uint64_t code, uint16_t field) {
  char text[kMostNameBytes];
  const uint64_t name = Load(code + field);
  if (name == 0 || !IsText(name)) return 0;
  return Name(text, TextAsUtf8(walk_->api().interpreter->offsets(), name, text, sizeof text));
}

uint32_t WalkRecord::NameOfStep(const Entry& entry, schema::HolderStep* step) {
  const FrameOffsets& offsets = walk_->api().interpreter->offsets();
  char text[kMostNameBytes];
  switch (entry.name_kind) {
    case NameKind::kNone:
      return 0;
    case NameKind::kText:
      return Name(text, TextAsUtf8(offsets, entry.name, text, sizeof text));
    case NameKind::kCharacters: {
      const auto* name = reinterpret_cast<const char*>(entry.name);
      return Name(name, strnlen(name, kMostNameBytes));
    }
    case NameKind::kNumber: {
      const int size = snprintf(text, sizeof text, "%lld", static_cast<long long>(entry.name));
      return Name(text, static_cast<size_t>(size));
    }
    case NameKind::kCode:
      return entry.name == 0 ? 0 : CodeName(entry.name, offsets.code_qualified_name);
    case NameKind::kClass:
      return Name(text, LastName(reinterpret_cast<const char*>(entry.name), text, sizeof text));
    case NameKind::kMember: {
      const Entry& parent = walk_->reached()[entry.parent];
      if (entry.parent == 0 || entry.kind != ObjectKind::kPython || parent.kind != ObjectKind::kPython) return 0;
      const char* name = MemberName(parent.address, entry.address);
      if (name == nullptr) return 0;
      *step = schema::HOLDER_ATTRIBUTE;
      return Name(name, strnlen(name, kMostNameBytes));
    }
  }
  return 0;
}

uint32_t WalkRecord::TypeName(const Entry& entry) {
  if (entry.kind != ObjectKind::kPython) return 0;
  const char* name = NameOf(TypeOf(entry.address));
  return Name(name, strnlen(name, kMostNameBytes));
}

uint32_t WalkRecord::FileName(const Entry& entry) {
  const PythonApi& api = walk_->api();
  if (entry.name_kind == NameKind::kCode && entry.name != 0) {
    return CodeName(entry.name, api.interpreter->offsets().code_file);
  }
  if (entry.step != schema::HOLDER_MODULE) return 0;
  uint64_t file = ItemNamed(api, entry.address, "__file__");
  // When the program has ended, CPython deletes __main__.__file__; the loader still has it.
  const uint64_t loader = file == 0 ? ItemNamed(api, entry.address, "__loader__") : 0;
  if (loader != 0) file = AttributeOf(loader, "path", walk_->FactsOf(loader), api);
  if (file == 0 || !IsText(file)) return 0;
  char text[kMostNameBytes];
  return Name(text, TextAsUtf8(api.interpreter->offsets(), file, text, sizeof text));
}

// Of several objects with one path, the one with most entries counts.
void WalkRecord::NoteEntries(const Entry& entry, uint64_t entries, Row* row) {
  if (entries == 0 || entries <= row->entries) return;
  row->entries = entries;
  row->limit = LimitOf(entry, entries, walk_);
}

uint32_t WalkRecord::AddRow(uint32_t parent, const Entry& entry) {
  ReachedObjects& reached = walk_->reached();
  const uint64_t entries =
      entry.kind != ObjectKind::kPython ? 0 : EntriesOf(entry.address, walk_->FactsOf(entry.address), walk_->api());
  if (entry.step == schema::HOLDER_NONE) {
    // A cell stands for what is in it.
    const Entry& from = reached[entry.parent];
    if (parent != 0 && from.kind == ObjectKind::kPython && TypeOf(from.address) == walk_->api().cell) {
      Row& row = rows_[parent - 1];
      row.type = TypeName(entry);
      NoteEntries(entry, entries, &row);
    }
    return parent;
  }
  const uint32_t depth = parent == 0 ? 0 : rows_[parent - 1].depth + 1;
  if (depth >= kMostSteps) return parent;
  auto step = static_cast<schema::HolderStep>(entry.step);
  const uint32_t name = NameOfStep(entry, &step);
  // A list whose nodes refer to each other is not spelled out.
  const auto repeats = [&](uint32_t row) {
    return row != 0 && paths_.Get(row).step == step && paths_.Get(row).name == name;
  };
  if (repeats(parent) && (step == schema::HOLDER_MEMBER || step == schema::HOLDER_ATTRIBUTE)) {
    uint32_t before = parent;
    for (int i = 0; i < 2 && before != 0; ++i) {
      before = paths_.Get(before).parent;
      if (!repeats(before)) before = 0;
    }
    if (before != 0) return parent;
  }
  const uint32_t number = rows_.Reserve(1) ? paths_.FindOrAdd({parent, static_cast<uint32_t>(step), name}) : 0;
  if (number == 0) {
    good_ = false;
    return parent;
  }
  if (number > rows_.size()) {
    const bool has_file = parent == 0 || step == schema::HOLDER_TRACEBACK;
    rows_.Add({TypeName(entry), has_file ? FileName(entry) : 0, depth, 0, 0, 0});
  }
  Row& row = rows_[number - 1];
  NoteEntries(entry, entries, &row);
  ++row.objects;
  return number;
}

// 1 + row; 0 for none.
uint32_t WalkRecord::RowOf(uint32_t entry) {
  ReachedObjects& reached = walk_->reached();
  chain_.Clear();
  uint32_t at = entry;
  for (; at != 0 && reached[at].row == 0; at = reached[at].parent) {
    if (!chain_.Reserve(1)) {
      good_ = false;
      return 0;
    }
    chain_.Add(at);
  }
  uint32_t row = at == 0 ? 0 : reached[at].row;
  for (size_t i = chain_.size(); i-- > 0;) {
    Entry& link = reached[chain_[i]];
    row = AddRow(row, link);
    link.row = row;
  }
  return row;
}

uint32_t WalkRecord::ShapeOf(const TensorFacts& facts) {
  if (facts.dimensions > 5) return 0;
  Shape shape = {facts.dimensions, {}};
  for (size_t i = 0; i < facts.dimensions; ++i) shape.sizes[i] = facts.sizes[i];
  const uint32_t number = shapes_.FindOrAdd(shape);
  good_ = good_ && number != 0;
  return number;
}

bool WalkRecord::StartFrame() {
  if (part_ > 0) {
    ReachedObjects& reached = walk_->reached();
    for (uint32_t i = 1; i < reached.size(); ++i) reached[i].row = 0;
    name_numbers_.Free();
  }
  names_.Clear();
  name_count_ = 0;
  paths_.Clear();
  rows_.Clear();
  shapes_.Clear();
  block_rows_.Clear();
  return good_;
}

uint8_t* WalkRecord::Next(size_t most_bytes, bool bounded, size_t* frame_bytes) {
  if (ended_ || !StartFrame()) return nullptr;
  GrowingArray<HeldBlock>& blocks = walk_->blocks();
  const size_t first = next_block_;
  const auto bytes = [&] {
    return kFixedBytes + names_.size() + kRowBytes * rows_.size() + kShapeBytes * shapes_.size() +
           kBlockBytes * block_rows_.size();
  };
  for (; next_block_ < blocks.size() && (next_block_ == first || bytes() < most_bytes); ++next_block_) {
    const HeldBlock& block = blocks[next_block_];
    if (!block_rows_.Reserve(1)) return nullptr;
    const uint32_t path = RowOf(block.entry);
    const char* type = block.python_type == 0 ? nullptr : NameOf(block.python_type);
    block_rows_.Add({path, type == nullptr ? 0 : Name(type, strnlen(type, kMostNameBytes)), ShapeOf(block.facts)});
  }
  if (!good_) return nullptr;
  ended_ = next_block_ == blocks.size();
  uint8_t* frame = Encode(first, next_block_, ended_, bounded, frame_bytes);
  ++part_;
  return frame;
}

uint8_t* WalkRecord::Encode(size_t first, size_t end, bool last, bool bounded, size_t* frame_bytes) {
  GrowingArray<HeldBlock>& blocks = walk_->blocks();
  ReachedObjects& reached = walk_->reached();
  frame_.Clear();
  const size_t room = kSealedPrefixBytes + kFixedBytes + names_.size() + kRowBytes * rows_.size() +
                      kShapeBytes * shapes_.size() + kBlockBytes * block_rows_.size();
  if (!frame_.Reserve(room)) return nullptr;
  MessageWriter out(frame_.data() + kSealedPrefixBytes, room - kSealedPrefixBytes);
  static_assert(f::generation << 3 < 0x80, "its tag takes one byte");
  if (bounded) out.Fixed32(f::generation, 0);
  out.Varint(f::walk, facts_.number);
  out.Varint(f::part, part_);
  out.Varint(f::last, last);
  out.Varint(f::moment, facts_.moment);
  out.Varint(f::stopped, facts_.stopped);
  out.Varint(f::begin_ticks, facts_.begin_ticks);
  out.Varint(f::end_ticks, facts_.end_ticks);
  out.Varint(f::objects, reached.size());
  out.Varint(f::tensors, tensors_);
  out.Raw(names_.data(), names_.size());
  const auto column = [&](uint32_t field, size_t count, auto value_of) {
    uint8_t* length = out.Begin(field);
    for (size_t i = 0; i < count; ++i) out.RawVarint(value_of(i));
    out.End(length);
  };
  const size_t rows = rows_.size();
  column(f::path_parent, rows, [&](size_t i) { return paths_.Get(i + 1).parent; });
  column(f::path_step, rows, [&](size_t i) { return paths_.Get(i + 1).step; });
  column(f::path_name, rows, [&](size_t i) { return paths_.Get(i + 1).name; });
  column(f::path_type, rows, [&](size_t i) { return rows_[i].type; });
  column(f::path_entries, rows, [&](size_t i) { return rows_[i].entries; });
  column(f::path_objects, rows, [&](size_t i) { return rows_[i].objects; });
  column(f::path_file, rows, [&](size_t i) { return rows_[i].file; });
  column(f::shape_dimensions, shapes_.size(), [&](size_t i) { return shapes_.rows()[i].dimensions; });
  uint8_t* sizes = out.Begin(f::shape_sizes);
  for (size_t i = 0; i < shapes_.size(); ++i) {
    const Shape& shape = shapes_.rows()[i];
    for (size_t d = 0; d < shape.dimensions; ++d) out.RawVarint(static_cast<uint64_t>(shape.sizes[d]));
  }
  out.End(sizes);
  const size_t count = end - first;
  column(f::path_limit, rows, [&](size_t i) { return rows_[i].limit; });
  column(f::block_address, count,
         [&](size_t i) { return blocks[first + i].address - (i == 0 ? 0 : blocks[first + i - 1].address); });
  column(f::block_device, count, [&](size_t i) { return blocks[first + i].facts.device; });
  column(f::block_path, count, [&](size_t i) { return block_rows_[i].path; });
  column(f::block_type, count, [&](size_t i) { return block_rows_[i].type; });
  column(f::block_dtype, count, [&](size_t i) { return blocks[first + i].facts.dtype; });
  column(f::block_shape, count, [&](size_t i) { return block_rows_[i].shape; });
  column(f::block_flags, count, [&](size_t i) {
    const HeldBlock& block = blocks[first + i];
    const auto flags = static_cast<uint16_t>(reached[block.entry].flags | block.uses);
    uint32_t value = 0;
    if ((flags & kRequiresGradient) != 0) value |= schema::HOLDER_REQUIRES_GRADIENT;
    if ((flags & kParameters) != 0) value |= schema::HOLDER_IS_PARAMETER;
    if ((flags & kBuffers) != 0) value |= schema::HOLDER_IS_BUFFER;
    if ((flags & kGradient) != 0) value |= schema::HOLDER_IS_GRADIENT;
    if ((flags & kOptimizerState) != 0) value |= schema::HOLDER_IS_OPTIMIZER_STATE;
    if ((flags & kSaved) != 0) value |= schema::HOLDER_IS_SAVED;
    const uint64_t bytes = block.facts.elements * ElementBytes(block.facts.dtype);
    if (block.facts.dimensions <= 5 && bytes != 0 && bytes < block.bytes) value |= schema::HOLDER_IS_VIEW;
    return value;
  });
  if (out.overflowed()) return nullptr;
  SealFrame(frame_.data(), schema::trace_field::holder_walks, out.size());
  *frame_bytes = kSealedPrefixBytes + out.size();
  return frame_.data();
}

}  // namespace vramtrack::holders
