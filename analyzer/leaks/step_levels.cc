// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/step_levels.h"

#include <algorithm>

namespace vramtrack {
namespace {

constexpr Step kFirstSnapshot = 8;

// Whether the sample of a bin is that of its later half: as good as by chance, so that no period of the job keeps step
// with the samples.
bool TakesLaterHalf(Step width, Step bin) {
  return ((uint64_t{width} << 32 | bin) * 0x9e3779b97f4a7c15 >> 61 & 1) != 0;
}

// The same step whether the bin was made of two smaller ones or begun as it is.
Step SampleStep(Step width, Step bin) {
  while (width > 1) {
    bin = 2 * bin + (TakesLaterHalf(width, bin) ? 1 : 0);
    width /= 2;
  }
  return bin;
}

const SiteLevel& Lower(const SiteLevel& a, const SiteLevel& b) { return a.bytes <= b.bytes ? a : b; }

}  // namespace

void AddLevels(const StepLevels& more, StepLevels* sum) {
  for (size_t i = 0; i < sum->sample.size() && i < more.sample.size(); ++i) {
    sum->sample[i].bytes += more.sample[i].bytes;
    sum->sample[i].objects += more.sample[i].objects;
  }
  sum->least = sum->low = sum->sample;
}

void StepLevelsBuilder::OnLevel(Step until, SiteLevel level, SiteLevel births, SiteLevel least) {
  if (until <= next_) return;
  if (until >= kFirstSnapshot && (births_.empty() || until / 2 >= births_.back().step)) {
    births_.push_back({until, births.objects, births.bytes});
  }
  // A level without bytes is none.
  if (level.bytes == 0) level.objects = 0;
  if (least.bytes == 0) least.objects = 0;
  if (any_ || level.bytes > 0) {
    Add(next_, next_ + 1, level, least);
    if (next_ + 1 < until) Add(next_ + 1, until, level, level);
  }
  next_ = until;
}

void StepLevelsBuilder::Add(Step from, Step until, SiteLevel level, SiteLevel least) {
  if (!any_) {
    any_ = true;
    while (from / width_ >= kMaxBins) width_ *= 2;
    OpenBin(from / width_);
    if (from == open_.bin * width_) {
      open_.least = least;
      open_.low = level;
    }
  }
  while ((until - 1) / width_ >= kMaxBins) Coarsen();
  while (from < until) {
    const Step bin = from / width_;
    if (bin != open_.bin) {
      CloseBin();
      OpenBin(bin);
      open_.least = least;
      open_.low = level;
      const Step last = (until - 1) / width_;
      if (last > bin) {
        // Whole bins at one level.
        Append({bin, least, level, level});
        OpenBin(last);
        open_.least = least;
        open_.low = level;
        from = last * width_;
      }
    }
    const Step end = std::min(until, (open_.bin + 1) * width_);
    if (least.bytes < open_.least.bytes) open_.least = least;
    if (level.bytes < open_.low.bytes) open_.low = level;
    if (sample_step_ >= from && sample_step_ < end) open_.sample = level;
    from = end;
  }
}

void StepLevelsBuilder::OpenBin(Step bin) {
  open_ = {};
  open_.bin = bin;
  sample_step_ = SampleStep(width_, bin);
}

void StepLevelsBuilder::CloseBin() { Append(open_); }

void StepLevelsBuilder::Append(const Run& run) {
  static constexpr Run kNothing;
  const Run& before = runs_.empty() ? kNothing : runs_.back();
  if (before.least == run.least && before.low == run.low && before.sample == run.sample) return;
  runs_.push_back(run);
}

void StepLevelsBuilder::Coarsen() {
  std::vector<Run> fine = std::move(runs_);
  runs_.clear();
  size_t next = 0;
  Run at;
  const auto level = [&](Step bin) {
    while (next < fine.size() && fine[next].bin <= bin) at = fine[next++];
    return at;
  };
  const Run open = open_;
  const Step open_bin = open.bin;
  width_ *= 2;
  for (Step bin = 0; 2 * bin + 1 < open_bin; ++bin) {
    const Run first = level(2 * bin), second = level(2 * bin + 1);
    Append({bin, Lower(first.least, second.least), Lower(first.low, second.low),
            TakesLaterHalf(width_, bin) ? second.sample : first.sample});
  }
  OpenBin(open_bin / 2);
  open_.least = open.least;
  open_.low = open.low;
  if (open_bin % 2 == 1) {
    const Run first = level(open_bin - 1);
    open_.least = Lower(first.least, open.least);
    open_.low = Lower(first.low, open.low);
    open_.sample = TakesLaterHalf(width_, open_.bin) ? open.sample : first.sample;
  } else {
    open_.sample = TakesLaterHalf(width_, open_.bin) ? SiteLevel() : open.sample;
  }
}

StepLevels StepLevelsBuilder::Finish(Step complete_steps) const {
  StepLevels levels;
  if (complete_steps == 0) return levels;
  StepLevelsBuilder whole = *this;
  while ((complete_steps - 1) / whole.width_ >= kMaxBins) {
    if (whole.any_) {
      whole.Coarsen();
    } else {
      whole.width_ *= 2;
    }
  }
  if (whole.any_) whole.CloseBin();
  levels.steps_per_bin = whole.width_;
  const Step bins = (complete_steps - 1) / whole.width_ + 1;
  levels.least.resize(bins);
  levels.low.resize(bins);
  levels.sample.resize(bins);
  Run at;
  size_t next = 0;
  for (Step bin = 0; bin < bins; ++bin) {
    while (next < whole.runs_.size() && whole.runs_[next].bin <= bin) at = whole.runs_[next++];
    levels.least[bin] = at.least;
    levels.low[bin] = at.low;
    levels.sample[bin] = at.sample;
  }
  return levels;
}

}  // namespace vramtrack
