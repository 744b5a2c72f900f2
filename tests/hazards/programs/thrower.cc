// SPDX-License-Identifier: Apache-2.0
//
// The C++ library of exceptions_in_c_program.
#include <dlfcn.h>
#include <unwind.h>

#include <cstring>
#include <stdexcept>

#include "tests/hazards/programs/device.h"

namespace {

struct Owner {
  void* pointer = Take(512);
  ~Owner() { Give(pointer); }
};

void Say(const char* name, void* address) {
  Dl_info info = {};
  if (address == nullptr || dladdr(address, &info) == 0) {
    std::printf("%s is nobody's\n", name);
    return;
  }
  const char* slash = std::strrchr(info.dli_fname, '/');
  std::printf("%s is of %s\n", name, slash != nullptr ? slash + 1 : info.dli_fname);
}

}  // namespace

extern "C" __attribute__((noinline)) void throw_from(int depth) {
  Owner owner;
  if (depth > 0) {
    throw_from(depth - 1);
    asm volatile("");  // no tail call
    return;
  }
  throw std::runtime_error("thrown");
}

extern "C" void catch_from(void (*function)(int), int depth) {
  try {
    Owner owner;
    function(depth);
  } catch (const std::exception& e) {
    std::printf("%d: %s\n", depth, e.what());
  }
}

extern "C" void say_who_unwinds() {
  Say("_Unwind_RaiseException", reinterpret_cast<void*>(&_Unwind_RaiseException));
  Say("_Unwind_Resume", reinterpret_cast<void*>(&_Unwind_Resume));
  for (const char* name : {"_Unwind_RaiseException", "_Unwind_Resume", "_Unwind_Backtrace", "unw_backtrace",
                           "_ULx86_64_step", "unw_getcontext", "backtrace", "dl_iterate_phdr"}) {
    Say(name, dlsym(RTLD_DEFAULT, name));
  }
}
