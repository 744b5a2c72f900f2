// SPDX-License-Identifier: Apache-2.0
#include "analyzer/torch_allocator/allocator_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace vramtrack::torch_allocator {
namespace {

constexpr uint64_t kMiB = 1 << 20;

// The same rules over plain lists, searched from end to end: slow, and hard to get wrong.
class NaiveAllocator {
 public:
  struct Piece {
    uint64_t begin, bytes;
    bool free, mapped;
  };
  struct Segment {
    uint32_t arena;
    bool small;
    uint64_t begin;
    std::vector<Piece> pieces;
  };

  NaiveAllocator(const Settings& settings, uint64_t limit) : settings_(settings), limit_(limit) {}

  uint64_t Reserved() const {
    uint64_t bytes = 0;
    for (const Segment& segment : segments_) {
      for (const Piece& piece : segment.pieces) bytes += piece.mapped ? piece.bytes : 0;
    }
    return bytes;
  }

  // The address of the block and its size; {0, 0} if there is no room. `address` is where a new segment would be.
  std::pair<uint64_t, uint64_t> Allocate(uint32_t arena, uint64_t bytes, uint64_t address) {
    const bool small = bytes <= kMiB;
    for (int attempt = 0; attempt < 2; ++attempt) {
      if (attempt == 1) EmptyCache();
      if (attempt == 0) {
        if (const auto found = TakeBestFit(arena, small, bytes); found.second > 0) return found;
      }
      if (settings_.expandable_segments) {
        if (const auto found = Extend(arena, small, bytes); found.second > 0) return found;
        continue;
      }
      const uint64_t segment = small               ? 2 * kMiB
                               : bytes < 10 * kMiB ? 20 * kMiB
                                                   : (bytes + 2 * kMiB - 1) / (2 * kMiB) * (2 * kMiB);
      if (Reserved() + segment > limit_) continue;
      segments_.push_back({arena, small, address, {{address, segment, true, true}}});
      return Take(&segments_.back(), 0, bytes);
    }
    return {0, 0};
  }

  void Free(uint64_t address) {
    for (Segment& segment : segments_) {
      for (Piece& piece : segment.pieces) {
        if (piece.begin == address && piece.mapped && !piece.free) piece.free = true;
      }
      Tidy(&segment);
    }
  }

  void EmptyCache() {
    for (Segment& segment : segments_) {
      if (settings_.expandable_segments) {
        const uint64_t granule = segment.small ? 2 * kMiB : 20 * kMiB;
        std::vector<Piece> cut;
        for (const Piece& piece : segment.pieces) {
          const uint64_t from = segment.begin + (piece.begin - segment.begin + granule - 1) / granule * granule;
          const uint64_t to = segment.begin + (piece.begin + piece.bytes - segment.begin) / granule * granule;
          if (!piece.free || !piece.mapped || from >= to) {
            cut.push_back(piece);
            continue;
          }
          if (from > piece.begin) cut.push_back({piece.begin, from - piece.begin, true, true});
          cut.push_back({from, to - from, true, false});
          if (piece.begin + piece.bytes > to) cut.push_back({to, piece.begin + piece.bytes - to, true, true});
        }
        segment.pieces = cut;
        Tidy(&segment);
      }
    }
    Drop();
  }

 private:
  void Drop() {
    segments_.erase(std::remove_if(segments_.begin(), segments_.end(),
                                   [](const Segment& s) { return s.pieces.size() == 1 && s.pieces[0].free; }),
                    segments_.end());
  }

  static void Tidy(Segment* segment) {
    std::vector<Piece> tidy;
    for (const Piece& piece : segment->pieces) {
      if (!tidy.empty() && tidy.back().free && piece.free && tidy.back().mapped == piece.mapped) {
        tidy.back().bytes += piece.bytes;
      } else {
        tidy.push_back(piece);
      }
    }
    segment->pieces = tidy;
  }

  std::pair<uint64_t, uint64_t> Take(Segment* segment, size_t index, uint64_t bytes) {
    Piece piece = segment->pieces[index];
    const uint64_t left = piece.bytes - bytes;
    const bool split = segment->small || settings_.expandable_segments ? left >= 512 : left > kMiB;
    segment->pieces[index].free = false;
    if (split) {
      segment->pieces[index].bytes = bytes;
      segment->pieces.insert(segment->pieces.begin() + static_cast<std::ptrdiff_t>(index) + 1,
                             {piece.begin + bytes, left, true, true});
    }
    return {piece.begin, segment->pieces[index].bytes};
  }

  std::pair<uint64_t, uint64_t> TakeBestFit(uint32_t arena, bool small, uint64_t bytes) {
    struct Fit {
      uint64_t bytes, begin, room;
      Segment* segment;
      size_t index;
    };
    std::vector<Fit> fits;
    for (Segment& segment : segments_) {
      if (segment.arena != arena || segment.small != small) continue;
      for (size_t i = 0; i < segment.pieces.size(); ++i) {
        const Piece& piece = segment.pieces[i];
        if (!piece.free || !piece.mapped || piece.bytes < bytes) continue;
        const bool grows = i + 1 < segment.pieces.size() && !segment.pieces[i + 1].mapped;
        fits.push_back(
            {piece.bytes, piece.begin, piece.bytes + (grows ? segment.pieces[i + 1].bytes : 0), &segment, i});
      }
    }
    if (fits.empty()) return {0, 0};
    std::sort(fits.begin(), fits.end(), [](const Fit& a, const Fit& b) {
      return std::make_pair(a.bytes, a.begin) < std::make_pair(b.bytes, b.begin);
    });
    size_t best = 0;
    while (settings_.expandable_segments && best + 1 < fits.size() && fits[best + 1].room < fits[best].room) ++best;
    return Take(fits[best].segment, fits[best].index, bytes);
  }

  std::pair<uint64_t, uint64_t> Extend(uint32_t arena, bool small, uint64_t bytes) {
    const uint64_t granule = small ? 2 * kMiB : 20 * kMiB;
    Segment* segment = nullptr;
    for (Segment& one : segments_) {
      if (one.arena == arena && one.small == small) segment = &one;
    }
    if (segment == nullptr) {
      const uint64_t begin = next_;
      next_ += uint64_t{1} << 44;
      segments_.push_back({arena, small, begin, {{begin, uint64_t{1} << 44, true, false}}});
      segment = &segments_.back();
    }
    for (size_t i = 0; i < segment->pieces.size(); ++i) {
      if (segment->pieces[i].mapped) continue;
      size_t first = i;
      if (first > 0 && segment->pieces[first - 1].free) --first;
      uint64_t room = 0;
      for (size_t j = first; j < segment->pieces.size() && segment->pieces[j].free; ++j)
        room += segment->pieces[j].bytes;
      if (room < bytes) continue;
      const uint64_t begin = segment->pieces[first].begin;
      // Granule by granule from there on.
      while (true) {
        size_t at = 0;
        while (segment->pieces[at].begin > begin || segment->pieces[at].begin + segment->pieces[at].bytes <= begin)
          ++at;
        if (segment->pieces[at].mapped && segment->pieces[at].bytes >= bytes) return Take(segment, at, bytes);
        const uint64_t have = segment->pieces[at].mapped ? segment->pieces[at].bytes : 0;
        const size_t gap = segment->pieces[at].mapped ? at + 1 : at;
        const uint64_t wanted = std::min(segment->pieces[gap].bytes, (bytes - have + granule - 1) / granule * granule);
        if (Reserved() + wanted > limit_) return {0, 0};
        const Piece unmapped = segment->pieces[gap];
        segment->pieces[gap] = {unmapped.begin, wanted, true, true};
        if (unmapped.bytes > wanted) {
          segment->pieces.insert(segment->pieces.begin() + static_cast<std::ptrdiff_t>(gap) + 1,
                                 {unmapped.begin + wanted, unmapped.bytes - wanted, true, false});
        }
        Tidy(segment);
      }
    }
    return {0, 0};
  }

  Settings settings_;
  uint64_t limit_, next_ = uint64_t{1} << 52;
  std::vector<Segment> segments_;
};

uint64_t RandomRequest(std::mt19937_64* random) {
  switch ((*random)() % 6) {
    case 0:
      return 512 * (1 + (*random)() % 8);
    case 1:
      return 512 * (1 + (*random)() % 2048);
    case 2:
      return kMiB + 512 * (1 + (*random)() % 4096);
    case 3:
      return kMiB * (1 + (*random)() % 12);
    case 4:
      return 512 * (1 + (*random)() % 80000);
    default:
      return kMiB * (10 + (*random)() % 60);
  }
}

struct Variant {
  const char* name;
  Settings settings;
  uint64_t limit;
};

TEST(AllocatorModel, DoesWhatPlainListsDo) {
  Variant variants[] = {
      {"default", {}, UINT64_MAX},
      {"limited", {}, 700 * kMiB},
      {"expandable", {}, UINT64_MAX},
      {"expandable, limited", {}, 700 * kMiB},
  };
  variants[2].settings.expandable_segments = variants[3].settings.expandable_segments = true;
  for (const Variant& variant : variants) {
    SCOPED_TRACE(variant.name);
    uint64_t failures = 0;
    for (uint64_t seed = 1; seed <= 8; ++seed) {
      std::mt19937_64 random(seed);
      AllocatorModel model(variant.settings);
      model.SetLimit(variant.limit);
      NaiveAllocator naive(variant.settings, variant.limit);
      std::vector<std::pair<AllocatorModel::Block, uint64_t>> live;  // and its address
      uint64_t next_segment = uint64_t{1} << 40;
      for (int i = 0; i < 3000; ++i) {
        const uint64_t choice = random() % 1000;
        if (choice < 2) {
          model.EmptyCache();
          naive.EmptyCache();
        } else if (choice < 500 + (i / 300 % 2 == 0 ? 60 : -60) || live.empty()) {
          const uint64_t request = RandomRequest(&random);
          const auto arena = static_cast<uint32_t>(random() % 3 / 2);
          next_segment += uint64_t{1} << 30;
          const auto block = model.Allocate(arena, request, {next_segment, SegmentBytes(request)});
          const auto [address, bytes] = naive.Allocate(arena, request, next_segment);
          ASSERT_EQ(block == model.none(), bytes == 0) << i;
          if (bytes == 0) {
            ++failures;
            continue;
          }
          ASSERT_EQ(block->second.bytes, bytes) << i;
          if (!variant.settings.expandable_segments) {
            ASSERT_EQ(block->first, address) << i;
          }
          live.push_back({block, address});
        } else {
          const size_t victim = random() % live.size();
          model.Free(live[victim].first);
          naive.Free(live[victim].second);
          live[victim] = live.back();
          live.pop_back();
        }
        ASSERT_EQ(model.reserved(), naive.Reserved()) << i;
      }
    }
    EXPECT_EQ(failures > 0, variant.limit != UINT64_MAX);
  }
}

TEST(AllocatorModel, RoundsToDivisionsOfPowersOfTwo) {
  EXPECT_EQ(BlockBytes(1, 0), 512u);
  EXPECT_EQ(BlockBytes(1200, 0), 1536u);
  EXPECT_EQ(BlockBytes(1200 << 10, 4), 1280u << 10);
  EXPECT_EQ(BlockBytes(1536 << 10, 4), 1536u << 10);
  EXPECT_EQ(BlockBytes(1537 << 10, 4), 1792u << 10);
  EXPECT_EQ(BlockBytes(1793 << 10, 4), 2048u << 10);
  EXPECT_EQ(BlockBytes(1200, 4), 1536u);  // too small for divisions
}

TEST(AllocatorModel, APrivateArenaIsNotEmptied) {
  AllocatorModel model({});
  model.SetPrivate(1, true);
  model.Free(model.Allocate(0, 30 * kMiB));
  model.Free(model.Allocate(1, 40 * kMiB));
  EXPECT_EQ(model.reserved(), 70 * kMiB);
  model.EmptyCache();
  EXPECT_EQ(model.reserved(), 40 * kMiB);
}

}  // namespace
}  // namespace vramtrack::torch_allocator
