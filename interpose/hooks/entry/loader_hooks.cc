// SPDX-License-Identifier: Apache-2.0
//
// The hooks of the loader. That of dlsym is for code that looks up CUDA functions itself: a statically linked runtime,
// a framework, Python's ctypes.
//
// The results of dlsym(RTLD_NEXT) and dlsym(RTLD_DEFAULT) depend on the caller, which glibc identifies by the return
// address. An ordinary forwarded call would be answered for this library, which causes endless recursion in a program
// with another interposer. Calls that this hook does not answer are therefore forwarded with a jump that leaves no
// stack frame. The hook defines both versions of the symbol that glibc has, because an interposer that asks for one of
// them by name must find it.
#include <dlfcn.h>

#include <atomic>
#include <cstring>

#include "interpose/frameworks/xla/pjrt_hooks.h"
#include "interpose/hooks/entry/patched_imports.h"
#include "interpose/hooks/table/real_entry.h"
#include "interpose/hooks/table/unseen.h"
#include "interpose/loader/loaded_object.h"
#include "interpose/session/session.h"

namespace vramtrack {
namespace {

#if defined(__aarch64__)
constexpr char kFirstVersion[] = "GLIBC_2.17";
#else
constexpr char kFirstVersion[] = "GLIBC_2.2.5";
#endif
constexpr char kSecondVersion[] = "GLIBC_2.34";

// The loader's functions behind ours. dlsym itself cannot be asked for them: it would be ours, and before a program's
// constructors have run it may allocate with an allocator that is not ready.
struct LoaderFunction {
  const char* name;
  std::atomic<void*> next;
};
LoaderFunction functions[] = {{"dlsym", {}}, {"dlopen", {}}, {"dlmopen", {}}};
enum { kDlsym, kDlopen, kDlmopen };

void* Behind(const LoaderFunction& function) {
  void* behind = nullptr;
  void* first = nullptr;
  bool behind_us = false;
  EachLoadedObject([&](const LoadedObject& object) {
    if (IsOwnObject(object)) {
      behind_us = true;
      return true;
    }
    void* found = object.Find(function.name, kFirstVersion);
    if (found == nullptr) found = object.Find(function.name, kSecondVersion);
    if (found == nullptr) return true;
    if (first == nullptr || strncmp(object.name(), "libc.so", 7) == 0) first = found;
    if (behind_us && behind == nullptr) behind = found;
    return true;
  });
  // Loaded late, we have nothing behind us.
  return behind != nullptr ? behind : first;
}

void* Next(LoaderFunction* function) {
  void* next = function->next.load(std::memory_order_relaxed);
  if (__builtin_expect(next == nullptr, 0)) {
    next = Behind(*function);
    function->next.store(next, std::memory_order_relaxed);
  }
  return next;
}

// Reports what is missing as dlsym does, with its message for dlerror. Asked from here, the next library is the one
// after ours.
void* NotThere(void*, const char* name) {
  void* found = RealDlsym()(RTLD_NEXT, name);
  asm volatile("" : "+r"(found));  // no tail call: it would be the program that asks, and find us
  return found;
}

bool MayBeHooked(const char* name) {
  return name != nullptr && name[0] != '\0' && (strncmp(name, "cu", 2) == 0 || strncmp(name, "nccl", 4) == 0);
}

// In two registers.
struct Answer {
  void* found;
  void* go_on;  // jumped to if nothing was found
};

}  // namespace

DlsymFunction RealDlsym() {
  static std::atomic<DlsymFunction> real{nullptr};
  DlsymFunction function = real.load(std::memory_order_relaxed);
  if (function != nullptr) return function;
  EachLoadedObject([&](const LoadedObject& object) {
    if (strncmp(object.name(), "libc.so", 7) != 0 && strncmp(object.name(), "libdl.so", 8) != 0) return true;
    function = reinterpret_cast<DlsymFunction>(object.Find("dlsym", kFirstVersion));
    if (function == nullptr) function = reinterpret_cast<DlsymFunction>(object.Find("dlsym", kSecondVersion));
    return function == nullptr;
  });
  real.store(function, std::memory_order_relaxed);
  return function;
}

namespace {

// Whether a function is in the global scope without us.
bool IsGlobal(const char* name) {
  // Asked from here: what is behind us; and what is before us, which hides us.
  if (RealDlsym()(RTLD_NEXT, name) != nullptr) return true;
  void* const first = RealDlsym()(RTLD_DEFAULT, name);
  return first != nullptr && !IsOwnAddress(first);
}

// A function of CUPTI that the tracer wants to know of; null for all others.
void* WatchedFunction(void* handle, const char* name, DlsymFunction next) {
  // A library is asked for what it has right after it was loaded.
  WatchNewLibraries();
  if (handle == RTLD_NEXT || name == nullptr || strncmp(name, "cupti", 5) != 0) return nullptr;
  return CuptiWrapperFor(name, next(handle, name));
}

}  // namespace

// What a hooked dlsym does before it goes on. `next`: the dlsym behind ours.
extern "C" __attribute__((visibility("hidden"), used)) Answer vramtrack_before_dlsym(void* handle, const char* name,
                                                                                     uint64_t, const void* caller) {
  void* const next = Next(&functions[kDlsym]);
  if (AreCuptiCallsWatched()) {
    void* const watched = WatchedFunction(handle, name, reinterpret_cast<DlsymFunction>(next));
    if (watched != nullptr) return {watched, next};
  }
  // In a process that was joined, dlopen is not hooked. A program that has loaded a library looks up its functions
  // next.
  if (__builtin_expect(joined.load(std::memory_order_relaxed), 0)) PatchNewLibraries();
  if (__builtin_expect(name != nullptr && strcmp(name, kGetPjrtApi) == 0, 0)) {
    void* const found = handle == RTLD_NEXT ? nullptr : reinterpret_cast<DlsymFunction>(next)(handle, name);
    return {found == nullptr ? nullptr : PjrtApiFor(found), next};
  }
  if (!MayBeHooked(name)) return {nullptr, next};
  const Entry entry = EntryNamed(name);
  if (entry == Entry::kCount) return {nullptr, next};
  if (handle == RTLD_NEXT || handle == RTLD_DEFAULT) {
    // The answer may be our own export, for a function that the caller could not reach without us.
    if (joined.load(std::memory_order_relaxed) || IsGlobal(name) || Providers::IsNeededBy(entry, caller))
      return {nullptr, next};
    return {nullptr, reinterpret_cast<void*>(&NotThere)};
  }
  void* const found = reinterpret_cast<DlsymFunction>(next)(handle, name);
  if (found == nullptr) return {nullptr, next};  // once more, for its message
  if (IsOwnAddress(found)) {
    return IsGlobal(name) ? Answer{found, next} : Answer{nullptr, reinterpret_cast<void*>(&NotThere)};
  }
  return {WrapperFor(found, name), next};
}

extern "C" __attribute__((visibility("hidden"), used)) Answer vramtrack_before_dlopen(const char* path, int flags) {
  if ((flags & RTLD_DEEPBIND) != 0 && path != nullptr) {
    NoteUnseen(path, schema::UNSEEN_DEEPBIND);
    ExpectDeepBinding();
  }
  return {nullptr, Next(&functions[kDlopen])};
}

extern "C" __attribute__((visibility("hidden"), used)) Answer vramtrack_before_dlmopen(Lmid_t space, const char* path) {
  if (space != LM_ID_BASE && path != nullptr) NoteUnseen(path, schema::UNSEEN_NAMESPACE);
  return {nullptr, Next(&functions[kDlmopen])};
}

}  // namespace vramtrack

// Calls BEFORE with the caller's three arguments and its return address; returns what it has found, or jumps to the
// function it names with the registers and the stack as the caller left them.
#if defined(__x86_64__)
#define VRAMTRACK_TAIL_HOOK(symbol, before)    \
  __asm__(                                     \
      ".text\n"                                \
      ".p2align 4\n"                           \
      ".globl " #symbol                        \
      "\n"                                     \
      ".type " #symbol ", @function\n" #symbol \
      ":\n"                                    \
      ".cfi_startproc\n"                       \
      "  endbr64\n"                            \
      "  push %rdi\n"                          \
      "  .cfi_adjust_cfa_offset 8\n"           \
      "  push %rsi\n"                          \
      "  .cfi_adjust_cfa_offset 8\n"           \
      "  push %rdx\n"                          \
      "  .cfi_adjust_cfa_offset 8\n"           \
      "  mov 24(%rsp), %rcx\n"                 \
      "  call " #before                        \
      "\n"                                     \
      "  mov %rdx, %r11\n"                     \
      "  pop %rdx\n"                           \
      "  .cfi_adjust_cfa_offset -8\n"          \
      "  pop %rsi\n"                           \
      "  .cfi_adjust_cfa_offset -8\n"          \
      "  pop %rdi\n"                           \
      "  .cfi_adjust_cfa_offset -8\n"          \
      "  test %rax, %rax\n"                    \
      "  jne 1f\n"                             \
      "  jmp *%r11\n"                          \
      "1:\n"                                   \
      "  ret\n"                                \
      ".cfi_endproc\n"                         \
      ".size " #symbol ", .-" #symbol "\n")
#elif defined(__aarch64__)
#define VRAMTRACK_TAIL_HOOK(symbol, before)    \
  __asm__(                                     \
      ".text\n"                                \
      ".p2align 4\n"                           \
      ".globl " #symbol                        \
      "\n"                                     \
      ".type " #symbol ", %function\n" #symbol \
      ":\n"                                    \
      ".cfi_startproc\n"                       \
      "  hint 34\n"                            \
      "  stp x29, x30, [sp, #-48]!\n"          \
      "  .cfi_adjust_cfa_offset 48\n"          \
      "  .cfi_offset 29, -48\n"                \
      "  .cfi_offset 30, -40\n"                \
      "  stp x0, x1, [sp, #16]\n"              \
      "  str x2, [sp, #32]\n"                  \
      "  mov x3, x30\n"                        \
      "  bl " #before                          \
      "\n"                                     \
      "  mov x16, x1\n"                        \
      "  mov x17, x0\n"                        \
      "  ldr x2, [sp, #32]\n"                  \
      "  ldp x0, x1, [sp, #16]\n"              \
      "  ldp x29, x30, [sp], #48\n"            \
      "  .cfi_adjust_cfa_offset -48\n"         \
      "  .cfi_restore 29\n"                    \
      "  .cfi_restore 30\n"                    \
      "  cbnz x17, 1f\n"                       \
      "  br x16\n"                             \
      "1:\n"                                   \
      "  mov x0, x17\n"                        \
      "  ret\n"                                \
      ".cfi_endproc\n"                         \
      ".size " #symbol ", .-" #symbol "\n")
#endif

VRAMTRACK_TAIL_HOOK(vramtrack_dlsym, vramtrack_before_dlsym);
VRAMTRACK_TAIL_HOOK(vramtrack_dlsym_2_34, vramtrack_before_dlsym);
VRAMTRACK_TAIL_HOOK(dlopen, vramtrack_before_dlopen);
VRAMTRACK_TAIL_HOOK(dlmopen, vramtrack_before_dlmopen);

#if defined(__aarch64__)
__asm__(".symver vramtrack_dlsym, dlsym@@GLIBC_2.17");
#else
__asm__(".symver vramtrack_dlsym, dlsym@@GLIBC_2.2.5");
#endif
__asm__(".symver vramtrack_dlsym_2_34, dlsym@GLIBC_2.34");

// Hooks unloading. The addresses of a library may later belong to another one, so a stack that equals a known one may
// be a different one, and a CUDA function may no longer exist. Loading needs no hook: a new stack through new code
// is compared with the loader's list when it is defined.
VRAMTRACK_EXPORT int dlclose(void* handle) {
  using namespace vramtrack;  // NOLINT
  using Function = int (*)(void*);
  static std::atomic<Function> next{nullptr};
  Function real = next.load(std::memory_order_relaxed);
  if (real == nullptr) {
    real = reinterpret_cast<Function>(RealDlsym()(RTLD_NEXT, "dlclose"));
    if (real == nullptr) return -1;
    next.store(real, std::memory_order_relaxed);
  }
  Session* session = Session::Running();
  Providers::BeforeUnload();
  if (session != nullptr) session->modules().UnloadBegins();
  const int result = real(handle);
  if (session != nullptr) session->modules().UnloadEnds();
  Providers::AfterUnload();
  LookedUpLibrariesChanged();
  return result;
}
