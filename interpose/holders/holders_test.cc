// SPDX-License-Identifier: Apache-2.0
//
// The parts of a walk that can be tested without an interpreter. tests/pytorch/holders has walks in PyTorch programs.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "interpose/base/system_call.h"
#include "interpose/holders/cpp_objects.h"
#include "interpose/holders/holders.h"
#include "interpose/holders/object_types.h"
#include "interpose/holders/object_walk.h"
#include "interpose/holders/process_memory.h"
#include "interpose/holders/python_objects.h"
#include "interpose/holders/reached_objects.h"

namespace vramtrack::holders {
namespace {

TEST(HolderMoments, AreAListOfNamesOrADuration) {
  HolderMoments moments;
  ASSERT_TRUE(ParseHolderMoments("growth,exit", &moments));
  EXPECT_TRUE(moments.growth && moments.exit);
  EXPECT_FALSE(moments.out_of_memory || moments.request);
  ASSERT_TRUE(ParseHolderMoments("30s", &moments));
  EXPECT_EQ(moments.interval_ns, 30'000'000'000u);
  EXPECT_FALSE(moments.exit);
  ASSERT_TRUE(ParseHolderMoments("oom,250ms", &moments));
  EXPECT_EQ(moments.interval_ns, 250'000'000u);
  EXPECT_TRUE(moments.out_of_memory);
  ASSERT_TRUE(ParseHolderMoments("2h", &moments));
  EXPECT_EQ(moments.interval_ns, 7200'000'000'000u);
  for (const char* all : {"all", "1"}) {
    ASSERT_TRUE(ParseHolderMoments(all, &moments));
    EXPECT_TRUE(moments.growth && moments.out_of_memory && moments.exit && moments.request);
  }
  for (const char* off : {"", "0"}) {
    ASSERT_TRUE(ParseHolderMoments(off, &moments));
    EXPECT_FALSE(moments.any());
  }
  for (const char* wrong : {"grow", "30", "s", "0s", "30d", "growth;exit", "growthexit", "-5s", "99999999999s"}) {
    EXPECT_FALSE(ParseHolderMoments(wrong, &moments)) << wrong;
  }
}

// A map in zeroed memory, as the walk has it.
struct Mapped {
  Mapped() : reached(static_cast<ReachedObjects*>(MapPrivate(sizeof(ReachedObjects)))) {}
  ~Mapped() {
    reached->Free();
    Unmap(reached, sizeof(ReachedObjects));
  }
  ReachedObjects* reached;
};

TEST(ReachedObjects, AnObjectIsReachedOnceFromItsEarliestStage) {
  Mapped mapped;
  ReachedObjects& reached = *mapped.reached;
  const uint32_t late = reached.Add(0x1000, kInstalled);
  ASSERT_NE(late, 0u);
  EXPECT_EQ(reached.Add(0x1000, kInstalled), 0u);
  EXPECT_EQ(reached.Add(0x1000, kOwn), late) << "an earlier stage takes it over";
  EXPECT_EQ(reached.Add(0x1000, kOptimizers), 0u);
  EXPECT_EQ(reached.Find(0x1000), late);
  EXPECT_EQ(reached.Find(0x2000), 0u);
}

TEST(ReachedObjects, FindsMillionsOfAddressesHoweverManyItExpects) {
  constexpr uint64_t kCount = 1'500'000;
  for (const size_t expected : {size_t{0}, size_t{700'000}, size_t{2'000'000}, SIZE_MAX}) {
    Mapped mapped;
    ReachedObjects& reached = *mapped.reached;
    reached.Expect(expected);
    for (uint64_t i = 1; i <= kCount; ++i) ASSERT_NE(reached.Add(i * 48, kOwn), 0u);
    for (uint64_t i = 1; i <= kCount; i += 997) {
      ASSERT_EQ(reached[reached.Find(i * 48)].address, i * 48);
      ASSERT_EQ(reached.Find(i * 48 + 8), 0u);
    }
  }
}

TEST(ReachedObjects, StagesComeInOrderAndFirstInFirstOut) {
  Mapped mapped;
  ReachedObjects& reached = *mapped.reached;
  uint32_t entries[3];
  for (uint64_t i = 0; i < 3; ++i) entries[i] = reached.Add(64 * (i + 1), kOwn);
  reached.Push(kOwnGraph, entries[0]);
  reached.Push(kOwn, entries[1]);
  reached.Push(kOwn, entries[2]);
  EXPECT_EQ(reached.Pop(), entries[1]);
  EXPECT_EQ(reached.Pop(), entries[2]);
  EXPECT_EQ(reached.Pop(), entries[0]);
  EXPECT_EQ(reached.Pop(), 0u);
}

TEST(ReachedObjects, EarlyOnesComeBeforeTheOthersOfTheirStage) {
  Mapped mapped;
  ReachedObjects& reached = *mapped.reached;
  uint32_t entries[3];
  for (uint64_t i = 0; i < 3; ++i) entries[i] = reached.Add(64 * (i + 1), kOwn);
  reached.Push(kOwn, entries[0]);
  reached.Push(kOwn, entries[1], /*early=*/true);
  reached.Push(kOptimizers, entries[2], /*early=*/true);
  EXPECT_EQ(reached.Pop(), entries[1]);
  EXPECT_EQ(reached.Pop(), entries[0]);
  EXPECT_EQ(reached.Pop(), entries[2]);
}

TEST(ReachedObjects, SaysWhetherMoreWaitWhereTheLastOneWaited) {
  Mapped mapped;
  ReachedObjects& reached = *mapped.reached;
  for (uint64_t i = 0; i < 2; ++i) reached.Push(kOwn, reached.Add(64 * (i + 1), kOwn));
  reached.Push(kOptimizers, reached.Add(0x1000, kOptimizers));
  reached.Pop();
  EXPECT_TRUE(reached.HasMore());
  reached.Pop();
  EXPECT_FALSE(reached.HasMore()) << "the next one is of another stage";
  reached.Push(kOwn, reached.Add(0x2000, kOwn), /*early=*/true);
  EXPECT_FALSE(reached.HasMore()) << "it waits with the early ones";
}

TEST(PendingReferences, ComeOutInTheOrderInWhichTheyWereAdded) {
  PendingReferences pending = {};
  uint64_t objects[100] = {};
  size_t taken = 0;
  const auto take = [&] { EXPECT_EQ(pending.Take().object, reinterpret_cast<uint64_t>(&objects[taken++])); };
  for (const uint64_t& object : objects) {
    if (pending.full()) take();
    pending.Add({reinterpret_cast<uint64_t>(&object), kSame, 1, 0, 0, kOwn, kOwn, false, false, TypeKind::kSkip},
                /*early=*/false);
    EXPECT_EQ(pending.Waiting(0)->object, reinterpret_cast<uint64_t>(&object));
  }
  EXPECT_TRUE(pending.full());
  EXPECT_EQ(pending.Waiting(PendingReferences::kMost - 1)->object, reinterpret_cast<uint64_t>(&objects[taken]));
  EXPECT_EQ(pending.Waiting(PendingReferences::kMost), nullptr);
  while (!pending.empty()) take();
  EXPECT_EQ(taken, 100u);
}

TEST(PendingReferences, AreEarlyUntilAllOfThemAreTaken) {
  PendingReferences pending = {};
  uint64_t object = 0;
  const PendingReference reference = {
      reinterpret_cast<uint64_t>(&object), kSame, 1, 0, 0, kOwn, kOwn, false, false, TypeKind::kSkip};
  pending.Add(reference, /*early=*/true);
  pending.Add(reference, /*early=*/false);
  EXPECT_TRUE(pending.early());
  pending.Take();
  pending.Take();
  EXPECT_FALSE(pending.early());
}

std::string Last(const char* mangled) {
  char name[64];
  return std::string(name, LastName(mangled, name, sizeof name));
}

TEST(CppObjects, TheLastPartOfAMangledName) {
  EXPECT_EQ(Last("N5torch8autograd9generated14AddmmBackward0E"), "AddmmBackward0");
  EXPECT_EQ(Last("N3c1010TensorImplE"), "TensorImpl");
  EXPECT_EQ(Last("N5torch8autograd7CppNodeI8MySquareEE"), "MySquare");
  EXPECT_EQ(Last("8Anything"), "Anything");
  EXPECT_EQ(Last(""), "");
  EXPECT_EQ(Last("N99xE"), "N99xE") << "a length beyond the name";
}

// Classes as PyTorch's type information names them, of which objects are recognized.
}  // namespace
}  // namespace vramtrack::holders

namespace c10 {
struct StorageImpl {
  virtual ~StorageImpl() = default;
  uint64_t references = 1;
  void* data = nullptr;
  void* owner[2] = {};
  int8_t device_type = 1, device_index = 3;
  uint64_t bytes = 0;
  uint64_t more[8] = {};
};
struct TensorImpl {
  virtual ~TensorImpl() = default;
  uint64_t references = 1;
  StorageImpl* storage = nullptr;
  void* autograd = nullptr;
  void* extra = nullptr;
  void* version = nullptr;
  void* python = nullptr;
  uint64_t dimensions = 0, sizes[5] = {}, strides[5] = {}, offset = 0, elements = 0;
  uint16_t type = 0;
  uint64_t more[8] = {};
};
}  // namespace c10
namespace torch::autograd {
struct Node {
  virtual ~Node() = default;
};
namespace generated {
struct SomeBackward0 : Node {};
}  // namespace generated
}  // namespace torch::autograd

namespace vramtrack::holders {
namespace {

struct Memory {
  Memory() {
    memory = static_cast<ProcessMemory*>(MapPrivate(sizeof(ProcessMemory)));
    classes = static_cast<CppClasses*>(MapPrivate(sizeof(CppClasses)));
  }
  ~Memory() {
    memory->Unmap();
    ::vramtrack::Unmap(memory, sizeof(ProcessMemory));
    ::vramtrack::Unmap(classes, sizeof(CppClasses));
  }
  ProcessMemory* memory;
  CppClasses* classes;
};

uint64_t TableOf(const void* object) {
  uint64_t table;
  std::memcpy(&table, object, sizeof table);
  return table;
}

TEST(CppObjects, ClassesAreKnownByTheirTypeInformation) {
  Memory m;
  auto tensor = std::make_unique<c10::TensorImpl>();
  auto node = std::make_unique<torch::autograd::generated::SomeBackward0>();
  auto other = std::make_unique<std::vector<int>>();
  ASSERT_TRUE(m.memory->Prepare());
  EXPECT_EQ(m.classes->Of(TableOf(tensor.get()), *m.memory).kind, CppClass::kTensor);
  const CppClasses::Known& known = m.classes->Of(TableOf(node.get()), *m.memory);
  EXPECT_EQ(known.kind, CppClass::kNode) << "derived from Node";
  EXPECT_EQ(Last(known.name), "SomeBackward0");
  for (const uint64_t wrong : {uint64_t{0}, uint64_t{1}, uint64_t{4096}, reinterpret_cast<uint64_t>(other.get()),
                               ~uint64_t{7}, reinterpret_cast<uint64_t>(&TableOf)}) {
    EXPECT_EQ(m.classes->Of(wrong, *m.memory).kind, CppClass::kOther);
  }
}

TEST(CppObjects, ATensorsFactsAreFoundWithoutKnowingWhereTheyAre) {
  Memory m;
  auto storage = std::make_unique<c10::StorageImpl>();
  auto tensor = std::make_unique<c10::TensorImpl>();
  storage->data = reinterpret_cast<void*>(0x7f0000002000);
  storage->bytes = 4 * 6 * 20;
  tensor->storage = storage.get();
  tensor->dimensions = 2;
  tensor->sizes[0] = 6;
  tensor->sizes[1] = 20;
  tensor->strides[0] = 20;
  tensor->strides[1] = 1;
  tensor->elements = 120;
  tensor->type = 6;
  ASSERT_TRUE(m.memory->Prepare());
  TensorLayout layout = {};
  TensorFacts facts;
  uint64_t words[sizeof(c10::TensorImpl) / 8];
  const auto read = [&](size_t count) {
    std::memcpy(words, tensor.get(), sizeof words);
    return layout.Read(words, count, m.classes, *m.memory, &facts);
  };
  ASSERT_TRUE(read(std::size(words)));
  EXPECT_EQ(facts.data, 0x7f0000002000u);
  EXPECT_EQ(facts.bytes, 480u);
  EXPECT_EQ(facts.device_type, 1);
  EXPECT_EQ(facts.device, 3);
  EXPECT_TRUE(facts.is_recorded);
  // On the host, what a recorded pool frees is recorded.
  tensor->storage->device_type = 0;
  tensor->storage->owner[0] = reinterpret_cast<void*>(&ElementBytes);
  ASSERT_TRUE(read(std::size(words)));
  EXPECT_FALSE(facts.is_recorded);
  AddRecordedDeleter(reinterpret_cast<const void*>(&ElementBytes));
  ASSERT_TRUE(read(std::size(words)));
  EXPECT_TRUE(facts.is_recorded);
  EXPECT_EQ(facts.dimensions, 2);
  EXPECT_EQ(facts.sizes[1], 20);
  EXPECT_EQ(facts.dtype, 7);
  EXPECT_EQ(ElementBytes(facts.dtype), 4u);
  // Once they are known, one without dimensions has its size, too; one that contradicts itself has none.
  tensor->dimensions = 0;
  tensor->elements = 1;
  ASSERT_TRUE(read(std::size(words)));
  EXPECT_EQ(facts.dimensions, 0);
  tensor->elements = 77;
  ASSERT_TRUE(read(std::size(words)));
  EXPECT_EQ(facts.dimensions, UINT8_MAX);
  // Too short to have a storage; and one without.
  TensorLayout fresh = {};
  std::memcpy(words, tensor.get(), sizeof words);
  EXPECT_FALSE(fresh.Read(words, 2, m.classes, *m.memory, &facts));
  tensor->storage = nullptr;
  EXPECT_FALSE(read(std::size(words)));
}

TEST(ProcessMemory, ReadsUpToWhatCannotBeRead) {
  Memory m;
  constexpr size_t kPage = 4096;
  auto* pages =
      static_cast<char*>(mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::memset(pages, 7, 2 * kPage);
  mprotect(pages + kPage, kPage, PROT_NONE);
  ASSERT_TRUE(m.memory->Prepare());
  const auto address = reinterpret_cast<uint64_t>(pages);
  EXPECT_TRUE(m.memory->IsHeap(address));
  EXPECT_FALSE(m.memory->IsHeap(address + kPage));
  EXPECT_FALSE(m.memory->IsHeap(address + 4)) << "objects are aligned";
  EXPECT_TRUE(m.memory->IsFile(reinterpret_cast<uint64_t>(&TableOf)));
  char to[64] = {};
  EXPECT_EQ(m.memory->Read(address, to, sizeof to), sizeof to);
  EXPECT_EQ(to[63], 7);
  EXPECT_EQ(m.memory->Read(address + kPage - 16, to, sizeof to), 16u);
  EXPECT_EQ(m.memory->Read(address + kPage, to, sizeof to), 0u);
  std::vector<uint64_t> addresses;
  for (uint64_t i = 0; i < 300; ++i)
    addresses.push_back(i % 3 == 1 ? address + kPage + 8 * i : address + 8 * i % kPage);
  std::vector<uint64_t> words(addresses.size(), 1);
  m.memory->ReadWords(addresses.data(), addresses.size(), words.data());
  for (size_t i = 0; i < words.size(); ++i) EXPECT_EQ(words[i], i % 3 == 1 ? 0 : 0x0707070707070707u) << i;
  munmap(pages, 2 * kPage);
}

// In a program at a fixed address this makes `malloc` a stub in the program.
void* (*volatile address_of_malloc)(size_t) = &malloc;

// What three pointers in a row lead to is a std::vector only if an allocation begins there that is as large.
TEST(ProcessMemory, KnowsAnArrayByItsAllocation) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "another malloc than glibc's";
#endif
  Memory m;
  std::vector<std::vector<uint64_t>> vectors;
  for (const size_t count : {1, 2, 3, 7, 16, 100, 1000}) vectors.emplace_back(count, 1);
  // After these, so that the last one is not followed by memory that was never given out.
  const auto last = std::make_unique<std::vector<uint64_t>>(10);
  ASSERT_TRUE(m.memory->Prepare());
  ASSERT_NE(address_of_malloc, nullptr);
  for (const std::vector<uint64_t>& one : vectors) {
    const auto begin = reinterpret_cast<uint64_t>(one.data());
    EXPECT_TRUE(m.memory->IsArray(begin, 8 * one.capacity())) << one.size();
    EXPECT_FALSE(m.memory->IsArray(begin + 16, 8 * one.capacity())) << "not where an allocation begins";
    EXPECT_FALSE(m.memory->IsArray(begin, 8 * one.capacity() + 64)) << "more than there is";
  }
  const auto large = reinterpret_cast<uint64_t>(vectors.back().data());
  EXPECT_FALSE(m.memory->IsArray(large, 800)) << "a pointer into the middle";
  EXPECT_FALSE(m.memory->IsArray(8, 64)) << "cannot be read";
}

struct Shared {
  uint64_t words[20];
};

TEST(ProcessMemory, ReadsAnObjectAndNotWhatFollows) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "another malloc than glibc's";
#endif
  Memory m;
  std::vector<std::shared_ptr<Shared>> shared;
  std::vector<std::unique_ptr<Shared>> plain;
  for (int i = 0; i < 20; ++i) {
    shared.push_back(std::make_shared<Shared>());
    plain.push_back(std::make_unique<Shared>());
  }
  ASSERT_TRUE(m.memory->Prepare());
  ASSERT_NE(address_of_malloc, nullptr);
  uint64_t words[256];
  for (size_t i = 0; i < 10; ++i) {
    // At most one word of the chunk is not used.
    EXPECT_NEAR(m.memory->ReadObject(reinterpret_cast<uint64_t>(plain[i].get()), words, 256), 20.5, 0.5) << i;
    const std::vector<std::shared_ptr<Shared>> references(i, shared[i]);
    EXPECT_NEAR(m.memory->ReadObject(reinterpret_cast<uint64_t>(shared[i].get()), words, 256), 20.5, 0.5) << i;
  }
}

// As NumPy lays them out.
struct ArrayType {
  uint64_t head[3];
  char kind, character, order, flags;
  int32_t number;
};
struct Array {
  uint64_t head[2];
  const uint64_t* data;
  int64_t dimensions;
  const int64_t *sizes, *strides;
  uint64_t base;
  const ArrayType* type;
  int64_t flags;
};

TEST(ObjectTypes, OnlyArraysOfObjectsHaveItems) {
  Memory m;
  const auto objects = std::make_unique<ArrayType>(ArrayType{{}, 'O', 'O', '|', 0, 17});
  const auto numbers = std::make_unique<ArrayType>(ArrayType{{}, 'f', 'f', '=', 0, 11});
  const std::vector<int64_t> sizes = {3, 4}, none = {3, 0};
  const std::vector<uint64_t> data(12, 1);
  ASSERT_TRUE(m.memory->Prepare());
  const auto items = [&m](const Array& array) { return ItemsOfArray(reinterpret_cast<uint64_t>(&array), *m.memory); };
  Array array = {{}, data.data(), 2, sizes.data(), nullptr, 0, objects.get(), 1};
  EXPECT_EQ(items(array).count, 12u);
  EXPECT_EQ(items(array).first, reinterpret_cast<uint64_t>(data.data()));
  array.flags = 0;
  EXPECT_EQ(items(array).count, 0u) << "a view that leaves some out";
  array.flags = 2;
  EXPECT_EQ(items(array).count, 12u) << "columns one after the other";
  array.type = numbers.get();
  EXPECT_EQ(items(array).count, 0u);
  array.type = objects.get();
  array.sizes = none.data();
  EXPECT_EQ(items(array).count, 0u);
  array.sizes = sizes.data();
  array.data = reinterpret_cast<const uint64_t*>(8);
  EXPECT_EQ(items(array).count, 0u) << "not in memory";
}

TEST(PythonObjects, FilesOfInstalledPackagesAreNotThePrograms) {
  const auto installed = [](const char* path) { return IsInstalledPath(path, std::strlen(path)); };
  EXPECT_TRUE(installed("/opt/venv/lib/python3.11/site-packages/torch/nn/modules/module.py"));
  EXPECT_TRUE(installed("/usr/lib/python3/dist-packages/six.py"));
  EXPECT_TRUE(installed("/usr/lib/python3.12/threading.py"));
  EXPECT_TRUE(installed("<frozen runpy>"));
  EXPECT_FALSE(installed("/home/me/train.py"));
  EXPECT_FALSE(installed("train.py"));
  EXPECT_FALSE(installed("<stdin>"));
}

TEST(PythonObjects, EachVersionHasItsOffsets) {
  EXPECT_EQ(ObjectOffsetsOf(7), nullptr);
  EXPECT_EQ(ObjectOffsetsOf(15), nullptr);
  for (uint32_t minor = 8; minor <= 14; ++minor) {
    const ObjectOffsets* o = ObjectOffsetsOf(minor);
    ASSERT_NE(o, nullptr);
    EXPECT_EQ(o->code_all_names != 0, minor >= 11) << minor;
    EXPECT_EQ(o->frame_object != 0, minor >= 11) << minor;
    EXPECT_EQ(o->function_builtins != 0, minor >= 10) << minor;
  }
}

}  // namespace
}  // namespace vramtrack::holders
