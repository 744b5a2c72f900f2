// SPDX-License-Identifier: Apache-2.0
//
// Hooks functions of libtorch_cpu that are called very often: when a node of the autograd graph is made and when it is
// evaluated, and when a torch.profiler.record_function begins, as in every optimizer step. The latter serves to find
// steps.
#include <atomic>
#include <cstdint>

#include "interpose/frameworks/torch/graph/graph_nodes.h"
#include "interpose/hooks/table/call.h"
#include "interpose/hooks/table/real_entry.h"
#include "interpose/hooks/table/unseen.h"
#include "interpose/loader/loaded_object.h"
#include "interpose/session/early_marks.h"
#include "interpose/stacks/stack_table.h"

// at::sequence_number::get_and_increment()
#define GET_AND_INCREMENT _ZN2at15sequence_number17get_and_incrementEv
// torch::autograd::Engine::evaluate_function(std::shared_ptr<GraphTask>&, Node*, InputBuffer&,
//                                            const std::shared_ptr<ReadyQueue>&)
#define EVALUATE_FUNCTION \
  _ZN5torch8autograd6Engine17evaluate_functionERSt10shared_ptrINS0_9GraphTaskEEPNS0_4NodeERNS0_11InputBufferERKS2_INS0_10ReadyQueueEE  // NOLINT
// at::RecordFunction::RecordFunction(at::RecordScope)
#define RECORD_FUNCTION _ZN2at14RecordFunctionC1ENS_11RecordScopeE
#define TEXT_OF(name) TEXT_OF_EXPANDED(name)
#define TEXT_OF_EXPANDED(name) #name

namespace vramtrack {
namespace {

// A cache for Providers::Real, for a function with very many call sites: it caches the result for each calling library
// instead of each call site. Must be static and zeroed. Thread-safe.
template <Entry kEntry>
class RealFunction {
 public:
  // Returns the real function for a call from the address `caller`; may be null.
  void* For(const void* caller) {
    const auto at = reinterpret_cast<uint64_t>(caller);
    const uint32_t version = version_.load(std::memory_order_acquire);
    if (__builtin_expect((version & 1) == 0 && unloads_.load(std::memory_order_relaxed) == Providers::unloads(), 1)) {
      for (const Caller& one : callers_) {
        if (at - one.begin.load(std::memory_order_relaxed) >= one.bytes.load(std::memory_order_relaxed)) continue;
        void* const real = one.real.load(std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_acquire);
        if (version_.load(std::memory_order_relaxed) == version) return real;
        break;
      }
    }
    return Find(caller);
  }

 private:
  struct Caller {
    std::atomic<uint64_t> begin, bytes;  // its code
    std::atomic<void*> real;
  };

  __attribute__((noinline)) void* Find(const void* caller) {
    const uint32_t unloads = Providers::unloads();
    LoadedObject object;
    uint64_t begin, bytes;
    void* const real = Providers::Real(kEntry, caller);
    if (real == nullptr || !FindLoadedObject(caller, &object) || !object.SegmentOf(caller, &begin, &bytes)) return real;
    if (!lock_.TryLock()) return real;
    version_.fetch_add(1, std::memory_order_acq_rel);
    std::atomic_thread_fence(std::memory_order_release);  // a reader that sees what is stored now sees the odd version
    if (unloads_.load(std::memory_order_relaxed) != unloads) {
      for (Caller& one : callers_) one.bytes.store(0, std::memory_order_relaxed);
      unloads_.store(unloads, std::memory_order_relaxed);
      next_ = 0;
    }
    Caller& one = callers_[next_++ % kCallers];
    one.begin.store(begin, std::memory_order_relaxed);
    one.bytes.store(bytes, std::memory_order_relaxed);
    one.real.store(real, std::memory_order_relaxed);
    version_.fetch_add(1, std::memory_order_acq_rel);
    lock_.Unlock();
    return real;
  }

  static constexpr size_t kCallers = 4;
  std::atomic<uint32_t> version_, unloads_;
  Caller callers_[kCallers];
  SpinLock lock_;
  size_t next_;
};

RealFunction<VRAMTRACK_ENTRY_OF(GET_AND_INCREMENT)> real_get_and_increment;
RealFunction<VRAMTRACK_ENTRY_OF(RECORD_FUNCTION)> real_record_function;

// The graph of a session in which nodes can be followed, or null. `real`: a function of the library that has the
// others.
__attribute__((cold)) torch::GraphNodes* BeginGraph(const Call& call, void* real) {
  torch::GraphNodes* graph = &call.session()->graph();
  LoadedObject library;
  if (graph->state() == torch::GraphNodes::State::kRefused || !FindLoadedObject(real, &library)) return nullptr;
  void* const current_thread = library.Find("_ZN2at14RecordFunction15currentThreadIdEv");
  if (current_thread == nullptr || library.Find(TEXT_OF(EVALUATE_FUNCTION)) == nullptr) {
    if (graph->Refuse()) DefineUnseenNow(library.name(), schema::UNSEEN_GRAPH, call.writer());
    return nullptr;
  }
  graph->Follow(reinterpret_cast<uint64_t (*)()>(current_thread));
  return graph;
}

torch::GraphNodes* GraphOf(const Call& call, void* real) {
  torch::GraphNodes* graph = &call.session()->graph();
  const bool follows = graph->state() == torch::GraphNodes::State::kFollowing;
  return __builtin_expect(follows, 1) ? graph : BeginGraph(call, real);
}

// Returns the session, unless it or the interpreter is new to the thread: then null. What a hook does with it reads
// only memory that is the thread's or constant, and needs no Call.
Session* FamiliarSession() {
  Session* const session = Session::Now();
  return session != nullptr && !thread_state.busy && !session->python().look_due() ? session : nullptr;
}

// Made by a node that is being evaluated, as in a double backward, a node stands for the same forward call.
bool StandsFor(const torch::CurrentNode& current, uint64_t frame) {
  return current.kind != schema::NODE_NONE && current.python_frame == frame;
}

__attribute__((noinline)) void NodeMade(uint64_t number, void* real) {
  if (Session::Running() == nullptr || Session::PassesOn()) return;
  Call call(kGraph);
  torch::GraphNodes* graph = call.active() ? GraphOf(call, real) : nullptr;
  if (graph == nullptr) return;
  PythonStacks& python = call.session()->python();
  const uint64_t frame = python.Innermost(call.writer());
  const torch::CurrentNode current = graph->Current();
  if (StandsFor(current, frame)) {
    graph->Made(number, current.forward);
  } else {
    graph->Made(number, frame == 0 ? 0 : python.TakeFrom(frame, call.writer()));
  }
}

// The same where nothing is new. Returns false otherwise.
bool KnownNodeMade(uint64_t number) {
  Session* const session = FamiliarSession();
  if (session != nullptr && !session->wants_stacks()) return true;
  if (session == nullptr || !session->graph().has_made()) return false;
  const uint64_t frame = session->python().InnermostNow();
  const torch::CurrentNode current = session->graph().Current();
  const bool same = StandsFor(current, frame);
  const uint32_t stack = same ? current.forward : frame == 0 ? 0 : session->python().Known(frame);
  if (stack == 0 && !same && frame != 0) return false;
  session->graph().Made(number, stack);
  return true;
}

// What the first nodes have shown.
__attribute__((cold)) void LearntFrom(const Call& call, torch::GraphNodes::Learnt learnt, void* real) {
  if (learnt == torch::GraphNodes::Learnt::kLayout) {
    call.session()->graph().ForEachLearntFrom([&call](uint32_t number, uint32_t forward, schema::GraphNode kind) {
      DefineForward(number, forward, kind, call.writer());
    });
    return;
  }
  LoadedObject library;
  if (FindLoadedObject(real, &library)) DefineUnseenNow(library.name(), schema::UNSEEN_GRAPH, call.writer());
}

constexpr uint8_t kUserScope = 7;  // at::RecordScope::USER_SCOPE

// The name comes later, and only where a profiler listens: the stack tells more.
__attribute__((noinline)) void MarkBegin() {
  if (Session::Running() == nullptr) return NoteEarlyMark(schema::MARK_RECORD_FUNCTION, nullptr, nullptr, 0);
  Call call(kGraph);
  if (call.active() && call.session()->python().Innermost(call.writer()) != 0) {
    call.Mark(schema::MARK_RECORD_FUNCTION, 0, 0);
  }
}

__attribute__((noinline)) void BeginEvaluation(const void* node, uint64_t frame, void* real) {
  if (Session::Running() == nullptr || Session::PassesOn()) return;
  Call call(kGraph);
  torch::GraphNodes* graph = call.active() ? GraphOf(call, real) : nullptr;
  if (graph == nullptr) return;
  const uint32_t later = graph->layout_known() ? 0 : call.session()->stacks().Reserve();
  const auto learnt = graph->Begin(node, frame, call.session()->python().Innermost(call.writer()), later);
  if (__builtin_expect(learnt != torch::GraphNodes::Learnt::kNothing, 0)) LearntFrom(call, learnt, real);
}

}  // namespace

// Returns the real function.
extern "C" __attribute__((visibility("hidden"), used)) void* vramtrack_before_evaluate(void* node, uint64_t frame,
                                                                                       const void* caller) {
  void* const real = Providers::Real(VRAMTRACK_ENTRY_OF(EVALUATE_FUNCTION), caller);
  Session* const session = FamiliarSession();
  const bool known = session != nullptr && (!session->wants_stacks() ||
                                            session->graph().BeginKnown(node, frame, session->python().InnermostNow()));
  if (__builtin_expect(!known, 0) && real != nullptr) BeginEvaluation(node, frame, real);
  return real;
}

extern "C" __attribute__((visibility("hidden"), used)) void vramtrack_after_evaluate(uint64_t frame) {
  torch::GraphNodes::End(frame);
}

// A personality routine of the Itanium C++ ABI (Level I, 1.3). This library cannot catch what passes through it, and
// need not: it only has to know that the node is left.
extern "C" __attribute__((visibility("hidden"), used)) int vramtrack_evaluate_personality(int version, int actions,
                                                                                          uint64_t, void*, void*) {
  constexpr int kCleanupPhase = 2, kFatalPhase2Error = 2, kContinueUnwind = 8;
  if (version != 1) return kFatalPhase2Error;
  if ((actions & kCleanupPhase) != 0) torch::GraphNodes::Abandon();
  return kContinueUnwind;
}

}  // namespace vramtrack

VRAMTRACK_EXPORT uint64_t GET_AND_INCREMENT() {
  using namespace vramtrack;  // NOLINT
  void* const real = real_get_and_increment.For(__builtin_return_address(0));
  if (real == nullptr) return 0;
  const uint64_t number = reinterpret_cast<uint64_t (*)()>(real)();
  if (__builtin_expect(!KnownNodeMade(number), 0)) NodeMade(number, real);
  return number;
}

VRAMTRACK_EXPORT void RECORD_FUNCTION(void* record, uint8_t scope) {
  using namespace vramtrack;  // NOLINT
  if (scope == kUserScope) MarkBegin();
  void* const real = real_record_function.For(__builtin_return_address(0));
  if (real != nullptr) reinterpret_cast<void (*)(void*, uint8_t)>(real)(record, scope);
}

// The real function is called with the registers as they were; its stack arguments are none.
#if defined(__x86_64__)
__asm__(
    ".text\n"
    ".p2align 4\n"
    ".globl " TEXT_OF(EVALUATE_FUNCTION) "\n"
    ".type " TEXT_OF(EVALUATE_FUNCTION) ", @function\n"
    TEXT_OF(EVALUATE_FUNCTION) ":\n"
    ".cfi_startproc\n"
    ".cfi_personality 0x1b, vramtrack_evaluate_personality\n"  // relative to the place, 4 bytes
    "  endbr64\n"
    "  push %rbp\n"
    "  .cfi_def_cfa_offset 16\n"
    "  .cfi_offset %rbp, -16\n"
    "  mov %rsp, %rbp\n"
    "  .cfi_def_cfa_register %rbp\n"
    "  push %rdi\n"
    "  push %rsi\n"
    "  push %rdx\n"
    "  push %rcx\n"
    "  push %r8\n"
    "  sub $8, %rsp\n"
    "  mov %rdx, %rdi\n"
    "  mov %rbp, %rsi\n"
    "  mov 8(%rbp), %rdx\n"
    "  call vramtrack_before_evaluate\n"
    "  add $8, %rsp\n"
    "  pop %r8\n"
    "  pop %rcx\n"
    "  pop %rdx\n"
    "  pop %rsi\n"
    "  pop %rdi\n"
    "  test %rax, %rax\n"
    "  je 1f\n"
    "  call *%rax\n"
    "  mov %rbp, %rdi\n"
    "  call vramtrack_after_evaluate\n"
    "1:\n"
    "  pop %rbp\n"
    "  .cfi_def_cfa %rsp, 8\n"
    "  ret\n"
    ".cfi_endproc\n"
    ".size " TEXT_OF(EVALUATE_FUNCTION) ", .-" TEXT_OF(EVALUATE_FUNCTION) "\n");
#elif defined(__aarch64__)
__asm__(
    ".text\n"
    ".p2align 4\n"
    ".globl " TEXT_OF(EVALUATE_FUNCTION) "\n"
    ".type " TEXT_OF(EVALUATE_FUNCTION) ", %function\n"
    TEXT_OF(EVALUATE_FUNCTION) ":\n"
    ".cfi_startproc\n"
    ".cfi_personality 0x1b, vramtrack_evaluate_personality\n"
    "  hint 34\n"
    "  stp x29, x30, [sp, #-64]!\n"
    "  .cfi_def_cfa_offset 64\n"
    "  .cfi_offset 29, -64\n"
    "  .cfi_offset 30, -56\n"
    "  mov x29, sp\n"
    "  stp x0, x1, [sp, #16]\n"
    "  stp x2, x3, [sp, #32]\n"
    "  str x4, [sp, #48]\n"
    "  mov x0, x2\n"
    "  mov x1, x29\n"
    "  mov x2, x30\n"
    "  bl vramtrack_before_evaluate\n"
    "  mov x16, x0\n"
    "  ldp x0, x1, [sp, #16]\n"
    "  ldp x2, x3, [sp, #32]\n"
    "  ldr x4, [sp, #48]\n"
    "  cbz x16, 1f\n"
    "  blr x16\n"
    "  mov x0, x29\n"
    "  bl vramtrack_after_evaluate\n"
    "1:\n"
    "  ldp x29, x30, [sp], #64\n"
    "  .cfi_def_cfa_offset 0\n"
    "  .cfi_restore 29\n"
    "  .cfi_restore 30\n"
    "  ret\n"
    ".cfi_endproc\n"
    ".size " TEXT_OF(EVALUATE_FUNCTION) ", .-" TEXT_OF(EVALUATE_FUNCTION) "\n");
#endif
