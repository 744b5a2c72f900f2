// SPDX-License-Identifier: Apache-2.0
#include "analyzer/attribution/library.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string_view>

#include "analyzer/attribution/python_file.h"
#include "analyzer/base/affix.h"

namespace vramtrack {

std::string_view ModuleName(std::string_view path) {
  constexpr std::string_view kDeleted = " (deleted)";
  if (path.size() > kDeleted.size() && EndsWith(path, kDeleted)) path.remove_suffix(kDeleted.size());
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

bool IsAllocationPlumbing(std::string_view path) {
  const std::string_view name = ModuleName(path);
  // "libcudart.so.12", and "libcudart-d0da41ae.so.12" as wheels have it.
  for (const std::string_view library : {"libcudart", "libcuda", "libvramtrack", "libnvidia-ml"}) {
    if (name.size() <= library.size() || !StartsWith(name, library)) continue;
    const char next = name[library.size()];
    if (next == '.' || next == '-' || next == '_') return true;
  }
  return false;
}

bool IsTracer(std::string_view path) {
  return StartsWith(ModuleName(path), "libvramtrack");  // also libvramtrack_cupti
}

bool IsFrameworkAllocator(std::string_view path) {
  return StartsWith(ModuleName(path), "libc10");  // also libc10_cuda
}

bool IsPyTorch(std::string_view path) { return IsFrameworkAllocator(path) || StartsWith(ModuleName(path), "libtorch"); }

bool IsStaticRuntime(std::string_view function, std::string_view inner) {
  constexpr std::string_view kInternal = "libcudart_static_";
  return StartsWith(function, kInternal) || (StartsWith(inner, kInternal) && StartsWith(function, "cuda"));
}

namespace {

bool BeginsWithOneOf(std::initializer_list<std::string_view> beginnings, std::string_view text) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [text](std::string_view beginning) { return StartsWith(text, beginning); });
}

bool HasOneOf(std::initializer_list<std::string_view> parts, std::string_view text) {
  return std::any_of(parts.begin(), parts.end(), [text](std::string_view part) { return Contains(text, part); });
}

bool IsInPackages(std::string_view path) { return HasOneOf({"/site-packages/", "/dist-packages/"}, path); }

}  // namespace

bool IsInstalledLibrary(std::string_view path) {
  if (BeginsWithOneOf({"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/", "/usr/local/lib/", "/usr/local/lib64/",
                       "/usr/local/cuda", "/opt/nvidia/", "/nix/store/"},
                      path)) {
    return true;
  }
  // Wherever they are: in an environment of conda's, unpacked next to a program.
  return IsInPackages(path) || IsPyTorch(path) || IsAllocationPlumbing(path) ||
         BeginsWithOneOf({"libcu", "libnccl", "libnv", "libnpp", "libstdc++.", "libgcc_s.", "libc.so", "libm.so",
                          "libpthread", "libpython", "ld-linux"},
                         ModuleName(path));
}

bool IsSystemHeader(std::string_view file) {
  // Wherever they are: the standard library, PyTorch's and CUDA's templates, which are compiled into the program.
  return BeginsWithOneOf({"/usr/include/", "/usr/lib/", "/usr/local/include/", "/usr/local/cuda"}, file) ||
         IsInPackages(file) ||
         HasOneOf({"/include/c++/", "/include/ATen/", "/include/c10/", "/include/torch/", "/include/thrust/",
                   "/include/cub/"},
                  file);
}

void AllocatingPackage::Pass(const ReportFrame& native) {
  if (IsPyTorch(native.module)) {
    where_ = Where::kOutside;
  } else if (where_ == Where::kNowhere) {
    where_ = Where::kBelow;
  }
}

bool AllocatingPackage::IsWithin(const ReportFrame& python) {
  // Without native frames it is not known what is in between.
  if (where_ == Where::kNowhere) where_ = Where::kOutside;
  if (where_ == Where::kOutside || python.origin == ReportFrame::Origin::kLibrary) return false;
  const std::string_view package = PythonPackage(python.file);
  if (where_ == Where::kBelow) package_ = package;
  where_ = !package.empty() && package == package_ ? Where::kWithin : Where::kOutside;
  return where_ == Where::kWithin;
}

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
