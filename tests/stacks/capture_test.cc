// SPDX-License-Identifier: Apache-2.0
//
// A captured stack is the one that libunwind's cursor finds, whatever the frames are like and whatever came before.
#include <alloca.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/stacks/oracle.h"
#include "tests/stacks/shapes.h"

#define NOINLINE __attribute__((noinline))

extern "C" void CallWithoutInformationBySp(void (*function)(int), int depth);
extern "C" void CallWithoutInformationByBp(void (*function)(int), int depth);

namespace vramtrack {

volatile long sink;

namespace {

thread_local unsigned seed = 1;
Oracle* oracle;

// What Next does besides calling shapes.
bool raise_signals, call_without_information;
thread_local bool in_signal;

void NextWithoutThrowing(int depth) {  // nothing can be thrown through code without unwind information
  try {
    Next(depth);
  } catch (...) {
  }
  sink = sink + 1;
}

}  // namespace

unsigned Random() {
  seed = seed * 1664525u + 1013904223u;
  return seed >> 8;
}

NOINLINE void Next(int depth) {
  if (depth <= 0 || Random() % 16 == 0) oracle->Check();
  if (depth <= 0) return;
  if (raise_signals && !in_signal && Random() % 12 == 0) raise(SIGUSR1);
  if (call_without_information && Random() % 6 == 0) {
    ((Random() & 1) != 0 ? CallWithoutInformationBySp : CallWithoutInformationByBp)(NextWithoutThrowing, depth - 1);
  } else {
    const unsigned which = Random() % static_cast<unsigned>(2 * kShapeCount);
    const auto count = static_cast<unsigned>(kShapeCount);
    (which < count ? kShapesWithFramePointer[which] : kShapesWithoutFramePointer[which - count])(depth);
  }
  sink = sink + 1;
}

namespace {

NOINLINE void Tree(int times, int depth) {
  for (int i = 0; i < times; ++i) {
    NextWithoutThrowing(depth != 0 ? depth : static_cast<int>(Random() % 40 + 1));
  }
}

class CaptureTest : public ::testing::Test {
 protected:
  void SetUp() override {
    seed = 1;
    oracle = oracle_.get();
  }
  // Everything that was captured is right, and each capture is counted once.
  void TearDown() override {
    EXPECT_EQ(oracle->Verify(), 0u);
    uint64_t counted = 0;
    for (size_t which = kFirstGuesses; which <= kModuleChanges; ++which) {
      counted += oracle->Count(static_cast<CaptureCount>(which));
    }
    EXPECT_EQ(counted, oracle->captures());
  }
  uint64_t Guessed() { return oracle->Count(kFirstGuesses) + oracle->Count(kLaterGuesses); }
  // Frames of more than 32 KiB are the only ones among the shapes that no rule can say.
  void ExpectOnlyUnusualFramesByCursor() {
    if (!kHaveUnwindRules) return;
    for (CaptureCount which : {kForeignWalks, kWithoutInformation, kSignalFrames, kModuleChanges}) {
      EXPECT_EQ(oracle->Count(which), 0u) << which;
    }
  }

 private:
  std::unique_ptr<Oracle> oracle_ = std::make_unique<Oracle>(kMaxFrames, CodeRange());
};

TEST_F(CaptureTest, RandomShapes) {
  Tree(1500, 0);
  EXPECT_GT(oracle->captures(), 2000u);
  ExpectOnlyUnusualFramesByCursor();
}

TEST_F(CaptureTest, RepeatedStacksAreGuessed) {
  for (int i = 0; i < 500; ++i) {
    seed = static_cast<unsigned>(7 + i % 5);
    Tree(3, 0);
  }
  if (kHaveUnwindRules) {
    EXPECT_LT(oracle->Count(kWalks), oracle->captures() / 20);
  }
}

#if defined(__aarch64__)
bool any_signed;

// Signs its return address, which only processors with pointer authentication (and qemu) do.
NOINLINE __attribute__((target("branch-protection=pac-ret"))) void Signed(int depth) {
  const uint64_t word = static_cast<const uint64_t*>(__builtin_frame_address(0))[1];
  any_signed = any_signed || word != WithoutSignature(word);
  if (depth > 0) {
    Signed(depth - 1);
  } else {
    oracle->Check();
  }
  sink = sink + 1;
}

TEST_F(CaptureTest, SignedReturnAddresses) {
  any_signed = false;
  for (int i = 0; i < 200; ++i) Signed(i % 20);
  if (!any_signed) GTEST_SKIP() << "this processor signs no return addresses";
  // With rules, and to the end of each stack.
  EXPECT_EQ(oracle->Count(kWalks) + Guessed(), oracle->captures());
  EXPECT_EQ(oracle->Count(kWithoutInformation), 0u);
  EXPECT_GT(Guessed(), oracle->captures() / 2);
}
#endif

NOINLINE void MovedLeaf() {
  oracle->Check();
  sink = sink + 1;
}
NOINLINE void MovedMiddle(size_t bytes) {
  auto* memory = static_cast<volatile char*>(alloca(bytes));
  memory[0] = 1;
  MovedLeaf();
  sink = sink + memory[0];
}
NOINLINE void MovedOuter(size_t bytes) {
  MovedMiddle(bytes);
  sink = sink + 1;
}
NOINLINE void MovedExtra(size_t bytes, size_t pad) {
  auto* memory = static_cast<volatile char*>(alloca(pad));
  memory[0] = 1;
  MovedOuter(bytes);
  sink = sink + memory[0];
}

// The same addresses at the same places, stale, while the frame that matters is elsewhere.
TEST_F(CaptureTest, FramesThatMovedAreNotTakenForTheOldOnes) {
  for (int round = 0; round < 8; ++round) {
    for (size_t pad = 16; pad < 2048; pad += 16) {
      MovedOuter(pad + 64);
      MovedExtra(16, pad);
      MovedOuter(16);
      MovedExtra(pad, 64);
    }
  }
  if (kHaveUnwindRules) {
    EXPECT_GT(Guessed(), oracle->captures() / 2);
  }
}

// Leaves what lies in `bytes` of the stack as it is.
NOINLINE void OverStaleWords(size_t bytes) {
  auto* memory = static_cast<volatile char*>(alloca(bytes));
  memory[0] = 1;
  oracle->Check();
  sink = sink + memory[0];
}
NOINLINE void ByOneWay(size_t bytes) {
  OverStaleWords(bytes);
  asm volatile("# one" : : : "memory");
}
NOINLINE void ByOtherWay(size_t bytes) {
  OverStaleWords(bytes);
  asm volatile("# other" : : : "memory");
}
NOINLINE void Above(size_t bytes, size_t below, void (*way)(size_t)) {
  auto* memory = static_cast<volatile char*>(alloca(bytes));
  memory[0] = 1;
  way(below);
  sink = sink + memory[0];
}

// The innermost and the outermost frames are where they were. Those between lie elsewhere and are others, and at their
// old places the old return addresses are still there: only the saved frame pointer tells.
TEST_F(CaptureTest, StaleReturnAddressesAreNotBelieved) {
  struct Way {
    size_t above, below;
    void (*way)(size_t);
  };
  const Way ways[] = {{4096, 16, ByOneWay}, {16, 4096, ByOtherWay}};
  volatile int order[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1};  // one call in the code
  for (int round = 0; round < 50; ++round) {
    for (const volatile int& which : order) Above(ways[which].above, ways[which].below, ways[which].way);
  }
}

TEST_F(CaptureTest, EightThreadsAtOnce) {
  for (int round = 0; round < 4; ++round) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([t, round] {
        seed = static_cast<unsigned>(round * 8 + t);
        Tree(40, 0);
        oracle->Leave();
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

TEST_F(CaptureTest, HundredsOfShortThreads) {
  for (int i = 0; i < 300; ++i) {
    std::thread([i] {
      seed = static_cast<unsigned>(i % 3);
      Tree(3, 0);
      oracle->Leave();
    }).join();
  }
  // A stack is the same on whichever thread: the later ones meet nothing new.
  if (kHaveUnwindRules) {
    EXPECT_LT(oracle->Count(kWalks), oracle->captures() / 20);
  }
  ExpectOnlyUnusualFramesByCursor();
}

TEST_F(CaptureTest, CodeWithoutUnwindInformation) {
  call_without_information = true;
  Tree(300, 0);
  call_without_information = false;
  EXPECT_GT(oracle->Count(kWithoutInformation), 10u);
}

void OnSignal(int) {
  in_signal = true;
  NextWithoutThrowing(static_cast<int>(Random() % 6));
  in_signal = false;
}

class InSignalHandlers : public CaptureTest, public ::testing::WithParamInterface<bool> {};

TEST_P(InSignalHandlers, TheStackGoesOnBehindTheHandler) {
  const bool alternate = GetParam();
  std::vector<char> memory(1 << 20);
  stack_t other = {}, before = {};
  other.ss_sp = memory.data();
  other.ss_size = memory.size();
  if (alternate) {
    ASSERT_EQ(sigaltstack(&other, &before), 0);
  }
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_NODEFER | (alternate ? SA_ONSTACK : 0);
  ASSERT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);
  raise_signals = true;
  Tree(200, 0);
  raise_signals = false;
  signal(SIGUSR1, SIG_DFL);
  if (alternate) sigaltstack(&before, nullptr);
  EXPECT_GT(oracle->Count(kSignalFrames), 100u);
}

INSTANTIATE_TEST_SUITE_P(Stacks, InSignalHandlers, ::testing::Bool());

ucontext_t main_context, coroutines[4];

void Coroutine(int which) {
  while (true) {
    NextWithoutThrowing(static_cast<int>(Random() % 5 + 1));
    swapcontext(&coroutines[which], &main_context);
  }
}

NOINLINE void RunCoroutines(char* memory) {
  constexpr size_t kStackBytes = 256 << 10;
  for (int i = 0; i < 4; ++i) {
    getcontext(&coroutines[i]);
    coroutines[i].uc_stack.ss_sp = memory + static_cast<size_t>(i) * kStackBytes;
    coroutines[i].uc_stack.ss_size = kStackBytes;
    coroutines[i].uc_link = &main_context;
    makecontext(&coroutines[i], reinterpret_cast<void (*)()>(Coroutine), 1, i);
  }
  for (int i = 0; i < 200; ++i) {
    swapcontext(&main_context, &coroutines[Random() % 4]);
    Tree(1, 4);
  }
}

TEST_F(CaptureTest, CoroutinesOnMappedStacks) {
  // Stacks with unreadable pages between, as coroutine libraries make them.
  constexpr size_t kBytes = 1 << 20;
  auto* memory = static_cast<char*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  RunCoroutines(memory);
  munmap(memory, kBytes);
  Tree(20, 0);
  EXPECT_GT(oracle->Count(kForeignWalks), 100u);
}

TEST_F(CaptureTest, CoroutinesInsideTheThreadsOwnStack) { RunCoroutines(static_cast<char*>(alloca(1 << 20))); }

TEST_F(CaptureTest, AStackThatWasUnmappedIsNeverRead) {
  // Beneath the end of another stack lies nothing: a guess that is longer than the stack must not be followed there.
  for (int round = 0; round < 20; ++round) {
    constexpr size_t kBytes = 256 << 10;
    auto* memory =
        static_cast<char*>(mmap(nullptr, 2 * kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(memory, MAP_FAILED);
    munmap(memory + kBytes, kBytes);
    getcontext(&coroutines[0]);
    coroutines[0].uc_stack.ss_sp = memory;
    coroutines[0].uc_stack.ss_size = kBytes;
    coroutines[0].uc_link = &main_context;
    makecontext(&coroutines[0], reinterpret_cast<void (*)()>(Coroutine), 1, 0);
    for (int i = 0; i < 5; ++i) swapcontext(&main_context, &coroutines[0]);
    munmap(memory, kBytes);
  }
}

void Leaf(int) {
  oracle->Check();
  sink = sink + 1;
}

TEST_F(CaptureTest, ALibraryReplacedAtTheSameAddress) {
  int replaced = 0;
  void* last = nullptr;
  for (int i = 0; i < 40; ++i) {
    const std::string path = std::string(getenv("PLUGINS")) + (i % 2 != 0 ? "/libframe_b.so" : "/libframe_a.so");
    void* library = dlopen(path.c_str(), RTLD_NOW);
    ASSERT_NE(library, nullptr) << dlerror();
    const auto call = reinterpret_cast<void (*)(void (*)(int), int)>(dlsym(library, "CallThroughPlugin"));
    ASSERT_NE(call, nullptr);
    replaced += reinterpret_cast<void*>(call) == last;
    last = reinterpret_cast<void*>(call);
    for (int k = 0; k < 20; ++k) call(Leaf, 0);
    oracle->modules().UnloadBegins();
    dlclose(library);
    oracle->modules().UnloadEnds();
  }
#if defined(__aarch64__)
  if (replaced == 0) GTEST_SKIP() << "no library came to the place of another, as under qemu's user mode";
#endif
  EXPECT_GT(replaced, 0) << "no library came to the place of another: nothing was tested";
  if (kHaveUnwindRules) {
    EXPECT_GT(Guessed(), 0u);
  }
}

// Each number of bytes moves the frames outside of it, so it is another stack to compare.
NOINLINE void Deeper(int depth, size_t bytes, bool check) {
  auto* memory = static_cast<volatile char*>(alloca(depth == 40 ? bytes : 16));
  memory[0] = 1;
  if (depth > 0) {
    Deeper(depth - 1, bytes, check);
  } else if (check) {
    oracle->Check();
  } else {
    oracle->Capture();
  }
  sink = sink + memory[0];
}

TEST_F(CaptureTest, RecordsStayWithinTheirBound) {
  const auto bytes_of_records = [] { return oracle->capture().records().bytes(); };
  volatile int times = 2;  // from one place in the code
  size_t bytes = 16;
  for (size_t before = 0; bytes < (400 << 10); bytes += 16) {
    for (int i = 0; i < times; ++i) Deeper(40, bytes, false);
    ASSERT_LE(bytes_of_records(), StackRecords::kMaxBytes);
    if (bytes % 1024 != 0) continue;
    if (bytes_of_records() == before) break;
    before = bytes_of_records();
  }
  if (!kHaveUnwindRules) return;
  EXPECT_GT(bytes_of_records(), StackRecords::kMaxBytes - 2048) << "the bound was not reached";
  const uint64_t walks = oracle->Count(kWalks);
  times = 100;
  for (int i = 0; i < times; ++i) Deeper(40, bytes + 64, true);
  EXPECT_EQ(oracle->Count(kWalks), walks + 100);
}

TEST_F(CaptureTest, AStackThatNeverComesAgainTakesNoMemory) {
  for (size_t bytes = 16; bytes < (32 << 10); bytes += 16) Deeper(40, bytes, false);
  EXPECT_EQ(oracle->capture().records().bytes(), 0u);
}

OWN_CODE uint32_t CaptureFromOwnCode(int depth) {
  const uint32_t stack = depth > 0 ? CaptureFromOwnCode(depth - 1) : oracle->Capture();
  asm volatile("" : : : "memory");  // no tail call
  return stack;
}

// However many of its own functions a capture comes through.
TEST(OwnFramesTest, AreNoPartOfAStack) {
  Oracle tracer(kMaxFrames,
                {reinterpret_cast<uint64_t>(__start_own_code), reinterpret_cast<uint64_t>(__stop_own_code)});
  oracle = &tracer;
  std::set<uint32_t> stacks;
  for (int i = 0; i < 60; ++i) stacks.insert(CaptureFromOwnCode(i % 20));
  EXPECT_EQ(stacks.size(), 1u);
  EXPECT_EQ(stacks.count(0), 0u);
  EXPECT_EQ(tracer.Verify(), 0u);
}

TEST(LimitedCaptureTest, KeepsTheInnermostFramesOfAStackThatIsTooDeep) {
  Oracle limited(16, CodeRange());
  oracle = &limited;
  seed = 1;
  Tree(200, 0);
  EXPECT_GT(limited.captures(), 200u);
  EXPECT_EQ(limited.Verify(), 0u);
}

}  // namespace
}  // namespace vramtrack
