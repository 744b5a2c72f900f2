// SPDX-License-Identifier: Apache-2.0
#include "tests/corpus/job_stream.h"

#include <algorithm>
#include <cstdio>

#include "analyzer/ledger/kind.h"

namespace vramtrack::corpus {
namespace {

constexpr uint64_t kLoadBias = 0x400000, kCodeStart = 0x401000, kCodeEnd = 0x4000000;
constexpr uint32_t kThreads = 3;

constexpr uint64_t kPage = 2 << 20;   // of the driver
constexpr uint64_t kSmall = 1 << 20;  // what is smaller shares pages

uint64_t RoundUp(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

bool IsDeviceMemory(uint32_t kind) {
  return LevelOf(kind) == Level::kDriver && !IsHostMemory(kind) && !IsForeignMemory(kind);
}

std::string Hex(uint64_t value) {
  char text[20];
  std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace

JobStream::JobStream(bool python, Marking marking, uint64_t device_bytes, const Naming& naming)
    : python_(python), marking_(marking), naming_(naming), random_(naming.scramble * 2 + 1) {
  trace_.DefineProcess(0, 4711, {python ? "python" : "/opt/job/engine"});
  for (uint32_t thread = 0; thread < kThreads; ++thread) trace_.DefineThread(thread, 4711 + thread, "job");
  trace_.DefineDevice(0, 0, "Emulated device", device_bytes);
  trace_.DefineModule(0, 1, "/opt/job/engine", kLoadBias, kCodeStart, kCodeEnd);
  if (!python) {
    trace_.DefineName(0, 1, "iteration");
    trace_.DefineStack(0, ++stacks_, {kCodeStart + 0x800005});
    optimizer_mark_ = stacks_;
    return;
  }
  main_code_ = Code(Name("f"), "/job/" + Name("m") + ".py", 1);
  train_code_ = Code(Name("f"), "/job/" + Name("m") + ".py", 1);
  if (marking_ == Marking::kImplied) {
    optimizer_code_ = Code("Optimizer.profile_hook_step.<locals>.wrapper", "/x/torch/optim/optimizer.py", 480);
  } else {
    // An optimizer of the job's own, which nobody can tell.
    optimizer_code_ = Code(Name("f"), "/job/" + Name("m") + ".py", 1);
  }
  trace_.DefinePythonStack(0, ++stacks_, {{optimizer_code_, 0}, {train_code_, 0}, {main_code_, 0}});
  trace_.DefineJoinedStack(0, stacks_ + 1, 0, stacks_);
  optimizer_mark_ = ++stacks_;
}

uint64_t JobStream::Draw() {
  random_ = random_ * 6364136223846793005 + 1442695040888963407;
  return random_ >> 33;
}

std::string JobStream::Name(const char* prefix) { return prefix + Hex(Draw()); }

uint32_t JobStream::Code(const std::string& name, const std::string& file, uint32_t line) {
  trace_.DefineCode(0, ++codes_, name, file, line, schema::LINES_NONE, "");
  return codes_;
}

uint32_t JobStream::DefineStack(Look look, uint32_t scope, std::string* token) {
  if (!python_ || look == Look::kNative) {
    const uint64_t inner = next_return_ += 0x40, outer = kCodeStart + 0x900005 + 0x40 * scope;
    *token = Hex(inner - kLoadBias);
    trace_.DefineStack(0, ++stacks_, {inner, outer, kCodeStart + 0xa00005});
    return stacks_;
  }
  if (look == Look::kAccumulate) {
    // The engine's own work has no line of the job's; what it works for is told by the native frames.
    const uint64_t inner = next_return_ += 0x40;
    *token = Hex(inner - kLoadBias);
    trace_.DefineStack(1, ++stacks_, {inner});
    trace_.DefineJoinedStack(1, stacks_ + 1, stacks_, 0, 0, schema::NODE_ACCUMULATE);
    return ++stacks_;
  }
  const auto edited = [&](int every) { return Naming::Hits(every, sites_.size()); };
  *token = Name("f");
  std::string file = "/job/" + Name("m") + ".py";
  const auto line = static_cast<uint32_t>(1 + Draw() % 900) + naming_.line_shift;
  if (edited(naming_.rename_every)) *token = "new_" + Hex(line * 7919);
  if (edited(naming_.move_every)) file = "/job/moved.py";
  const uint32_t code = Code(*token, file, line);
  uint32_t outer = optimizer_code_;
  if (look != Look::kOptimizer) {
    uint32_t& of_scope = scope_codes_[scope];
    if (of_scope == 0) of_scope = Code(Name("f"), "/job/" + Name("m") + ".py", 1);
    outer = of_scope;
  }
  std::vector<std::pair<uint32_t, uint32_t>> called = {{code, 0}};
  if (edited(naming_.wrap_every)) called.emplace_back(Code("inner_" + Hex(line * 31), file, line + 3), 0);
  called.insert(called.end(), {{outer, 0}, {train_code_, 0}, {main_code_, 0}});
  trace_.DefinePythonStack(0, ++stacks_, called);
  const uint32_t frames = stacks_;
  if (look == Look::kBackward) {
    trace_.DefineJoinedStack(0, ++stacks_, 0, 0, frames, schema::NODE_FUNCTION);
  } else {
    trace_.DefineJoinedStack(0, ++stacks_, 0, frames);
  }
  return stacks_;
}

uint32_t JobStream::AddSite(schema::Kind kind, Look look, uint32_t thread, uint32_t scope) {
  SiteRecord site;
  site.kind = kind;
  stack_of_site_.push_back(DefineStack(look, scope, &site.token));
  thread_of_site_.push_back(thread);
  sites_.push_back(std::move(site));
  return static_cast<uint32_t>(sites_.size() - 1);
}

uint32_t JobStream::SegmentSite(uint32_t site) {
  const auto [found, is_new] = segment_site_.try_emplace(site, static_cast<uint32_t>(sites_.size()));
  if (is_new) {
    SiteRecord segments;
    segments.kind = schema::DEVICE;
    segments.token = sites_[site].token;
    segments.live_by_step.assign(step_ends_.size(), 0);
    sites_.push_back(std::move(segments));
    stack_of_site_.push_back(stack_of_site_[site]);
    thread_of_site_.push_back(thread_of_site_[site]);
  }
  return found->second;
}

void JobStream::Count(uint32_t site, const Object& object, bool born) {
  SiteRecord& record = sites_[site];
  const double sign = born ? 1 : -1;
  ++(born ? record.allocations : record.frees);
  record.live_bytes += sign * static_cast<double>(object.bytes);
  record.live_objects += sign;
  ++events_;
}

void JobStream::Reserve(uint64_t bytes) {
  reserved_ += bytes;
  most_reserved_ = std::max(most_reserved_, reserved_);
}

uint64_t JobStream::DriverAddress(uint64_t bytes, bool on_device) {
  if (on_device && bytes < kSmall) {
    const BlockAllocator::Block block = pages_.Allocate(bytes, 0);
    Reserve(block.new_segment_bytes);
    return block.address;
  }
  const uint64_t address = next_address_, pages = RoundUp(bytes + 1, kPage);
  next_address_ += pages;
  if (on_device) Reserve(RoundUp(bytes, kPage));
  return address;
}

Object JobStream::Allocate(uint32_t site, uint64_t bytes, uint32_t pool) {
  Object object;
  object.site = site;
  object.bytes = bytes;
  const schema::Kind kind = sites_[site].kind;
  const uint32_t thread = thread_of_site_[site];
  if (kind == schema::FRAMEWORK_BLOCK) {
    const BlockAllocator::Block block = allocator_.Allocate(bytes, pool);
    if (block.new_segment_bytes > 0) {
      const uint32_t segment = SegmentSite(site);
      trace_.Allocate(thread, Tick(), schema::DEVICE, 0, stack_of_site_[site], block.new_segment,
                      block.new_segment_bytes);
      Count(segment, {segment, block.new_segment, block.new_segment_bytes, {}}, true);
      Reserve(block.new_segment_bytes);
    }
    object.address = block.address;
    object.bytes = block.bytes;
  } else {
    object.address = DriverAddress(bytes, IsDeviceMemory(kind));
  }
  object.id = trace_.Allocate(thread, Tick(), kind, 0, stack_of_site_[site], object.address, object.bytes);
  Count(site, object, true);
  return object;
}

void JobStream::FreeDeferred(const Object& object, uint32_t thread) {
  const schema::Kind kind = sites_[object.site].kind;
  trace_.Free(thread, Tick(), kind, 0, object.id);
  Count(object.site, object, false);
  if (!IsDeviceMemory(kind)) return;
  if (object.bytes < kSmall) {
    pages_.Free(object.address);
  } else {
    reserved_ -= RoundUp(object.bytes, kPage);
  }
}

void JobStream::Free(const Object& object, uint32_t thread) {
  FreeDeferred(object, thread);
  if (sites_[object.site].kind == schema::FRAMEWORK_BLOCK) allocator_.Free(object.address);
}

void JobStream::BeginStep() {
  if (python_ || marking_ != Marking::kImplied) return;
  trace_.Event(0, Tick(), schema::MARK, static_cast<schema::Kind>(schema::MARK_RANGE_PUSH), 0, optimizer_mark_, {1, 0});
}

void JobStream::MarkOptimizer() {
  if (!python_ || marking_ != Marking::kImplied) return;
  trace_.Event(0, Tick(), schema::MARK, static_cast<schema::Kind>(schema::MARK_RECORD_FUNCTION), 0, optimizer_mark_,
               {0, 0});
}

void JobStream::EndStep() {
  if (!python_ && marking_ == Marking::kImplied) {
    trace_.Event(0, Tick(), schema::MARK, static_cast<schema::Kind>(schema::MARK_RANGE_POP), 0, optimizer_mark_,
                 {0, 0});
  }
  if (marking_ == Marking::kMarks) trace_.Step(0, Tick(), step_ends_.size());
  step_ends_.push_back(Tick());
  reserved_by_step_.push_back(most_reserved_);
  most_reserved_ = reserved_;
  for (SiteRecord& site : sites_) {
    site.live_by_step.resize(step_ends_.size() - 1, 0);
    site.live_by_step.push_back(LevelOf(site.kind) == Level::kHandle ? site.live_objects : site.live_bytes);
  }
}

}  // namespace vramtrack::corpus
