// SPDX-License-Identifier: Apache-2.0
#include "interpose/stacks/rule_table.h"

#include <link.h>

#include "interpose/stacks/rule_learner.h"

namespace vramtrack {
namespace {

int ContainsCode(dl_phdr_info* info, size_t, void* ip) {
  const uint64_t at = *static_cast<const uint64_t*>(ip) - info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type == PT_LOAD && at - segment.p_vaddr < segment.p_memsz) return 1;
  }
  return 0;
}

UnwindRule RuleOf(const Registers& frame) {
  vramtrack_step step;
  vramtrack_forget_readable_pages();
  if (!vramtrack_learn_step(frame.ip, frame.sp, frame.bp, &step)) return UnwindRule::Of(UnwindRule::kUnusual);
  if (step.result == 0 && step.has_unwind_information) return UnwindRule::Of(UnwindRule::kEnd);
  if (!step.has_unwind_information) {
    uint64_t ip = frame.ip - 1;
    return UnwindRule::Of(dl_iterate_phdr(ContainsCode, &ip) != 0 ? UnwindRule::kNoInformation
                                                                  : UnwindRule::kUnknownCode);
  }
  if (step.result < 0) return UnwindRule::Of(UnwindRule::kUnusual);
  const auto fits = [](int64_t bytes, uint64_t words) {
    return bytes >= 0 && bytes % 8 == 0 && static_cast<uint64_t>(bytes) / 8 <= words;
  };
#if defined(__aarch64__)
  if (step.kind == VRAMTRACK_STEP_STANDARD && step.saves_ip) {
    const int64_t slot = step.cfa_offset + step.ip_offset;  // from the base, as the CFA is
    const bool together = !step.saves_bp || step.bp_offset == step.ip_offset - 8;
    const int64_t lowest = step.saves_bp ? slot - 8 : slot;
    if (together && lowest >= 0 && step.ip_offset <= -8 && fits(slot, UnwindRule::kMaxJ) &&
        fits(step.cfa_offset, UnwindRule::kMaxK)) {
      return UnwindRule(UnwindRule::Frame(step.from_sp ? UnwindRule::kFromSp : UnwindRule::kFromBp,
                                          static_cast<uint64_t>(step.cfa_offset) / 8, static_cast<uint64_t>(slot) / 8)
                            .word() |
                        (step.saves_bp ? UnwindRule::kSavesBp : 0));
    }
  }
  return UnwindRule::Of(step.kind == VRAMTRACK_STEP_SIGNAL ? UnwindRule::kSignal : UnwindRule::kUnusual);
#else
  const int64_t k = step.cfa_offset - 8;  // of slot, in bytes
  const int64_t j = step.saves_bp ? -step.bp_offset - 8 : 0;
  switch (step.kind) {
    case VRAMTRACK_STEP_STANDARD:
      if (!fits(k, UnwindRule::kMaxK) || !fits(j, UnwindRule::kMaxJ) || (step.saves_bp && j == 0)) break;
      if (!step.from_sp) {
        return UnwindRule::Frame(UnwindRule::kFromBp, static_cast<uint64_t>(k) / 8, static_cast<uint64_t>(j) / 8);
      }
      if (j > k) break;  // saved below the stack pointer: where a signal handler may have written
      return UnwindRule::Frame(UnwindRule::kFromSp, static_cast<uint64_t>(k) / 8, static_cast<uint64_t>(j) / 8);
    case VRAMTRACK_STEP_REALIGNED:
      if (!fits(-step.cfa_offset, UnwindRule::kMaxK)) break;
      return UnwindRule::Frame(UnwindRule::kRealigned, static_cast<uint64_t>(-step.cfa_offset) / 8, 0);
    case VRAMTRACK_STEP_SIGNAL:
      return UnwindRule::Of(UnwindRule::kSignal);
    default:
      break;
  }
  return UnwindRule::Of(UnwindRule::kUnusual);
#endif
}

}  // namespace

UnwindRule RuleTable::Learn(const Registers& frame, Place place, uint32_t epoch, Changes* changes) {
  const UnwindRule rule = RuleOf(frame);
  const uint64_t word = place.tag | rule.word();
  ++changes->learned;
  if (rule.Is(UnwindRule::kUnknownCode)) return UnwindRule(word);
  SpinLockHolder hold(&lock_);
  if (!hold.held() || epoch != epoch_) return UnwindRule(word);
  size_t way = 0;
  for (; way < kWays; ++way) {
    const uint64_t there = words_[place.index ^ way].load(std::memory_order_relaxed);
    if (there == 0 || ((there ^ word) & UnwindRule::kTagMask) == 0) break;
  }
  if (way == kWays) {
    ++changes->evicted;
    way = changes->learned % kWays;
  }
  words_[place.index ^ way].store(word, std::memory_order_relaxed);
  return UnwindRule(word);
}

bool RuleTable::BeginEpoch(uint32_t epoch) {
  SpinLockHolder hold(&lock_);
  if (!hold.held()) return false;
  if (static_cast<int32_t>(epoch - epoch_) <= 0) return true;
  for (std::atomic<uint64_t>& word : words_) word.store(0, std::memory_order_relaxed);
  epoch_ = epoch;
  return true;
}

}  // namespace vramtrack
