// SPDX-License-Identifier: Apache-2.0
#include "proto/frame_scanner.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "proto/block_encoder.h"
#include "proto/varint.h"

namespace vramtrack {
namespace {

namespace f = schema::trace_field;

constexpr uint64_t kPassedBytes = 8u << 20;

template <typename T>
T Load(std::string_view bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

struct Prefix {
  uint32_t field;
  uint64_t frame_bytes;  // prefix included; may reach beyond the end of the file
};

// The prefix of a frame at `offset`, if one is there. `end_offset` - `offset` >= 1.
std::optional<Prefix> ReadPrefix(std::string_view file, uint64_t offset) {
  const auto* at = reinterpret_cast<const uint8_t*>(file.data()) + offset;
  const auto* end = reinterpret_cast<const uint8_t*>(file.data()) + file.size();
  const uint8_t tag = *at++;
  if ((tag & 7) != 2) return std::nullopt;
  const uint32_t field = tag >> 3;
  if (field != f::padding && (field < f::blocks || field > f::holder_walks)) return std::nullopt;
  const uint8_t* length_at = at;
  uint64_t length;
  if (!GetVarint(&at, end, &length) || at - length_at != static_cast<ptrdiff_t>(kLengthBytes)) return std::nullopt;
  if (length > kMaxFrameBytes) return std::nullopt;
  if (field != f::padding) {
    if (end - at < 5 || at[0] != (1 << 3 | 5)) return std::nullopt;
    uint32_t sync;
    std::memcpy(&sync, at + 1, sizeof sync);
    if (sync != kSync) return std::nullopt;
  }
  return Prefix{field, 1 + kLengthBytes + length};
}

// Offset of the next frame that carries a sync mark, or the file's end.
uint64_t NextSync(std::string_view file, uint64_t offset) {
  char pattern[5] = {1 << 3 | 5};
  std::memcpy(pattern + 1, &kSync, sizeof kSync);
  const std::string_view needle(pattern, sizeof pattern);
  for (uint64_t from = offset;;) {
    const size_t found = file.find(needle, from);
    if (found == std::string_view::npos) return file.size();
    const uint64_t lead = 1 + kLengthBytes;
    if (found >= offset + lead && ReadPrefix(file, found - lead)) return found - lead;
    from = found + 1;
  }
}

class Scanner {
 public:
  Scanner(std::string_view file, bool verify, TraceLayout* layout) : file_(file), verify_(verify), layout_(layout) {}

  void Run(const std::function<void(std::string_view)>& passed) {
    uint64_t reported = kHeaderBytes;
    for (uint64_t offset = kHeaderBytes; offset < file_.size();) {
      offset = ReadFrame(offset);
      if (passed && offset - reported >= kPassedBytes) {
        passed(file_.substr(reported, offset - reported));
        reported = offset;
      }
    }
  }

 private:
  uint64_t Lost(uint64_t offset, uint64_t end, const char* reason) {
    layout_->damage.push_back({offset, end - offset, reason});
    return end;
  }

  uint64_t ReadFrame(uint64_t offset) {
    const std::optional<Prefix> prefix = ReadPrefix(file_, offset);
    if (!prefix) {
      const uint64_t next = NextSync(file_, offset);
      // Zeros are room that was set aside and never written.
      const bool empty = file_.substr(offset, next - offset).find_first_not_of('\0') == std::string_view::npos;
      return empty ? next : Lost(offset, next, "no frame begins here");
    }
    const uint64_t end = offset + prefix->frame_bytes;
    if (prefix->field == f::padding) {
      // It carries no sync mark: its length counts only where another frame, or the end, follows.
      if (InPlace(end)) return end;
      return Lost(offset, NextSync(file_, offset + 1), "the length of padding is wrong");
    }
    if (prefix->field == f::journals) return ReadJournal(offset, prefix->frame_bytes);
    if (end > file_.size() || prefix->frame_bytes < kSealedPrefixBytes) {
      // A damaged length must not hide the frames after it.
      const uint64_t next = NextSync(file_, offset + 1);
      return Lost(offset, next,
                  next == file_.size() ? "the file ends inside a frame" : "the length of a frame is wrong");
    }
    return ReadSealed(offset, end, prefix->field);
  }

  uint64_t ReadSealed(uint64_t offset, uint64_t end, uint32_t field) {
    if (!verify_) return InPlace(end) ? end : NextSync(file_, offset + 1);
    const FrameRef frame = {offset, file_.substr(offset + kSealedPrefixBytes, end - offset - kSealedPrefixBytes)};
    const auto* payload = reinterpret_cast<const uint8_t*>(frame.payload.data());
    if (static_cast<uint8_t>(file_[offset + kFramePrefixBytes]) != kFixed64Field2 ||
        Load<uint64_t>(file_, offset + kFramePrefixBytes + 1) !=
            PayloadChecksum(field, payload, frame.payload.size())) {
      // A wrong length may lead to the beginning of a later frame.
      const uint64_t next = NextSync(file_, offset + 1);
      return Lost(offset, InPlace(end) ? std::min(end, next) : next, "the checksum of a frame is wrong");
    }
    switch (field) {
      case f::blocks:
        layout_->blocks.push_back(frame);
        break;
      case f::checkpoint_parts:
        layout_->checkpoint_parts.push_back(frame);
        break;
      case f::activities:
        layout_->activities.push_back(frame);
        break;
      case f::holder_walks:
        layout_->holder_walks.push_back(frame);
        break;
      case f::trailer:
        if (frame.payload.size() == kTrailerBytes - kSealedPrefixBytes) {
          layout_->finished = true;
          layout_->end_ticks = Load<uint64_t>(frame.payload, 2 * 9 + 1);
        }
        break;
      default:
        break;
    }
    return end;
  }

  uint64_t ReadJournal(uint64_t offset, uint64_t frame_bytes) {
    uint64_t end = offset + frame_bytes;
    if (file_.size() - offset > kFramePrefixBytes &&
        file_[offset + kFramePrefixBytes] != FrameTag(schema::journal_field::words)) {
      return Lost(offset, NextSync(file_, offset + 1), "no journal begins here");
    }
    if (frame_bytes > kMaxJournalBytes || (end < file_.size() && !InPlace(end))) {
      return Lost(offset, NextSync(file_, offset + 1), "the length of a journal is wrong");
    }
    if (frame_bytes < kJournalWordsOffset + 64 || offset + kJournalWordsOffset + 64 > file_.size()) {
      return Lost(offset, NextSync(file_, offset + 1), "the file ends inside a journal");
    }
    if (end > file_.size()) end = file_.size();
    layout_->journals.push_back(
        {offset, file_.substr(offset + kJournalWordsOffset, (end - offset - kJournalWordsOffset) & ~uint64_t{7})});
    return end;
  }

  // Whether a frame, room that was never written, or nothing follows at `offset`.
  bool InPlace(uint64_t offset) const {
    return offset == file_.size() || (offset < file_.size() && (file_[offset] == '\0' || ReadPrefix(file_, offset)));
  }

  std::string_view file_;
  bool verify_;
  TraceLayout* layout_;
};

}  // namespace

std::string ScanTrace(std::string_view file, TraceLayout* layout, const std::function<void(std::string_view)>& passed) {
  *layout = {};
  if (file.empty()) return "the file is empty";
  if (file.substr(0, 2) == "\x1f\x8b") {
    return "compressed, so no trace but a summary, which only report, diff, check, info and merge take";
  }
  if (file.size() < kHeaderCountersOffset || file[0] != static_cast<char>(FrameTag(f::header)) ||
      Load<uint64_t>(file, kHeaderMagicOffset) != kMagic) {
    return "not a vramtrack trace";
  }
  const auto version = Load<uint32_t>(file, kHeaderVersionOffset);
  if (version > kFormatVersion) {
    return "written in format version " + std::to_string(version) + ", this program reads up to " +
           std::to_string(kFormatVersion) + ": use a newer vramtrack";
  }
  if (version == 0) return "not a vramtrack trace";
  if (file.size() < kHeaderBytes) return "cut inside its first page: nothing can be read";
  std::memcpy(layout->counters, file.data() + kHeaderCountersOffset, sizeof layout->counters);
  Scanner(file, /*verify=*/true, layout).Run(passed);
  return "";
}

std::vector<FrameRef> FindJournals(std::string_view file, const std::function<void(std::string_view)>& passed) {
  TraceLayout layout;
  if (file.size() > kHeaderBytes) Scanner(file, /*verify=*/false, &layout).Run(passed);
  return std::move(layout.journals);
}

}  // namespace vramtrack
