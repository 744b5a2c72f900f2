// SPDX-License-Identifier: Apache-2.0
#include "analyzer/attribution/library_pool.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "analyzer/base/affix.h"

namespace vramtrack {
namespace {

struct PoolCode {
  LibraryPool pool;
  std::string_view module;    // a part of the path of the module with its code; any if empty
  std::string_view function;  // a part of the names of its functions
};

// CuPy 14: cupy/cuda/memory.pyx and pinned_memory.pyx, compiled by Cython, which keeps the names of classes. RMM:
// headers under rmm/mr, which are compiled into librmm and into the programs that use it.
constexpr PoolCode kPools[] = {
    {{"CuPy's memory pool", "call vramtrack.trace_cupy()", "arrays"}, "/cupy/cuda/memory.", "MemoryPool"},
    {{"CuPy's pinned-memory pool", "call cupy.cuda.set_pinned_memory_allocator(None)", "blocks"},
     "/cupy/cuda/pinned_memory.",
     "MemoryPool"},
    {{"RMM's pool", kRmmSetting, "blocks"}, "", "pool_memory_resource"},
    {{"RMM's arena", kRmmSetting, "blocks"}, "", "arena_memory_resource"},
};

// "name+0x1234": what is known of a function without a name.
bool HasName(const ReportFrame& frame) { return !frame.function.empty() && !Contains(frame.function, "+0x"); }

bool IsOf(const PoolCode& code, const ReportFrame& frame) {
  if (frame.language == Language::kPython || !Contains(frame.module, code.module)) return false;
  return HasName(frame) ? Contains(frame.function, code.function) : !code.module.empty();
}

}  // namespace

const LibraryPool* LibraryPoolOf(const std::vector<ReportFrame>& frames) {
  const auto* const found = std::find_if(std::begin(kPools), std::end(kPools), [&frames](const PoolCode& code) {
    return std::any_of(frames.begin(), frames.end(), [&code](const ReportFrame& frame) { return IsOf(code, frame); });
  });
  return found == std::end(kPools) ? nullptr : &found->pool;
}

}  // namespace vramtrack
