// SPDX-License-Identifier: Apache-2.0
#include "interpose/loader/loaded_object.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace vramtrack {
namespace {

std::vector<uint64_t> LoadedBases() {
  std::vector<uint64_t> bases;
  EachLoadedObject([&](const LoadedObject& object) {
    bases.push_back(object.base());
    return true;
  });
  return bases;
}

// Keeps a list up to date as Exporters does, from what EachNewObject says alone.
struct Mirror {
  VisitedObjects visited = {};
  std::vector<uint64_t> bases;
  size_t new_ones = 0;

  void Update() {
    std::vector<uint64_t> remain;
    new_ones = 0;
    ASSERT_TRUE(EachNewObject(
        &visited, [&](uint64_t base) { remain.push_back(base); },
        [&](Earlier earlier) {
          if (earlier == Earlier::kForgotten) bases.clear();
          if (earlier != Earlier::kSomeRemain) return;
          const auto gone = [&](uint64_t base) { return std::count(remain.begin(), remain.end(), base) == 0; };
          bases.erase(std::remove_if(bases.begin(), bases.end(), gone), bases.end());
        },
        [&](const LoadedObject& object) {
          bases.push_back(object.base());
          ++new_ones;
        }));
  }
};

constexpr const char* kLibraries[] = {"libanl.so.1", "libutil.so.1", "libBrokenLocale.so.1", "libthread_db.so.1",
                                      "libnss_compat.so.2"};

TEST(EachNewObjectTest, VisitsWhatIsNew) {
  Mirror mirror;
  mirror.Update();
  EXPECT_EQ(mirror.bases, LoadedBases());
  EXPECT_EQ(mirror.new_ones, mirror.bases.size());
  mirror.Update();
  EXPECT_EQ(mirror.new_ones, 0u);
  void* library = dlopen(kLibraries[0], RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  mirror.Update();
  EXPECT_EQ(mirror.new_ones, 1u);
  dlclose(library);
  mirror.Update();
  EXPECT_EQ(mirror.new_ones, 0u) << "an unloading makes nothing new";
  EXPECT_EQ(mirror.bases, LoadedBases());
}

TEST(EachNewObjectTest, KeepsUpWithLoadingAndUnloadingInAnyOrder) {
  std::mt19937 random(7);
  void* handles[std::size(kLibraries)] = {};
  Mirror mirror;
  size_t differences = 0;
  for (int round = 0; round < 2000; ++round) {
    // Several changes between two looks, a library that comes back to the same place among them.
    for (unsigned changes = random() % 5; changes > 0; --changes) {
      const size_t i = random() % std::size(kLibraries);
      if (handles[i] != nullptr) {
        dlclose(handles[i]);
        handles[i] = nullptr;
      } else {
        handles[i] = dlopen(kLibraries[i], RTLD_NOW);
      }
    }
    const std::vector<uint64_t> before = mirror.bases;
    mirror.Update();
    ASSERT_EQ(mirror.bases, LoadedBases()) << round;
    differences += before != mirror.bases;
  }
  EXPECT_GT(differences, 500u) << "no library came or went";
}

TEST(FindLoadedObjectTest, FindsTheOneThatAnAddressLiesIn) {
  LoadedObject object;
  // No sanitizer has one of its own.
  ASSERT_TRUE(FindLoadedObject(reinterpret_cast<const void*>(&gnu_get_libc_version), &object));
  EXPECT_STREQ(object.name(), "libc.so.6");
  ASSERT_TRUE(FindLoadedObject(reinterpret_cast<const void*>(&LoadedBases), &object));
  EXPECT_EQ(object.base(), LoadedBases()[0]);
  int on_the_stack = 0;
  EXPECT_FALSE(FindLoadedObject(&on_the_stack, &object));
  EXPECT_FALSE(FindLoadedObject(nullptr, &object));
}

// Not static: else the compiler would know its words.
const char* (*table[])() = {gnu_get_libc_version, nullptr};

TEST(LoadedObjectTest, FindsImportedAddressesInData) {
  LoadedObject program;
  ASSERT_TRUE(FindLoadedObject(reinterpret_cast<const void*>(&LoadedBases), &program));
  size_t found = 0;
  program.EachImportedAddress([&](const char* name, void** slot) {
    if (slot != reinterpret_cast<void**>(&table[0])) return;
    EXPECT_STREQ(name, "gnu_get_libc_version");
    ++found;
  });
  EXPECT_EQ(found, 1u);
}

}  // namespace
}  // namespace vramtrack
