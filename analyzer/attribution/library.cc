// SPDX-License-Identifier: Apache-2.0
#include "analyzer/attribution/library.h"

#include <algorithm>
#include <initializer_list>

#include "analyzer/attribution/python_file.h"

namespace vramtrack {

std::string_view ModuleName(std::string_view path) {
  constexpr std::string_view kDeleted = " (deleted)";
  if (path.size() > kDeleted.size() && path.substr(path.size() - kDeleted.size()) == kDeleted) {
    path.remove_suffix(kDeleted.size());
  }
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool IsAllocationPlumbing(std::string_view path) {
  const std::string_view name = ModuleName(path);
  // "libcudart.so.12", and "libcudart-d0da41ae.so.12" as wheels have it.
  for (const std::string_view library : {"libcudart", "libcuda", "libvramtrack", "libnvidia-ml"}) {
    if (name.size() <= library.size() || name.substr(0, library.size()) != library) continue;
    const char next = name[library.size()];
    if (next == '.' || next == '-' || next == '_') return true;
  }
  return false;
}

bool IsTracer(std::string_view path) {
  constexpr std::string_view kName = "libvramtrack";  // also libvramtrack_cupti
  return ModuleName(path).substr(0, kName.size()) == kName;
}

bool IsFrameworkAllocator(std::string_view path) {
  constexpr std::string_view kName = "libc10";  // also libc10_cuda
  return ModuleName(path).substr(0, kName.size()) == kName;
}

bool IsPyTorch(std::string_view path) {
  return IsFrameworkAllocator(path) || ModuleName(path).substr(0, 8) == "libtorch";
}

bool IsStaticRuntime(std::string_view function, std::string_view inner) {
  constexpr std::string_view kInternal = "libcudart_static_", kEntry = "cuda";
  if (function.substr(0, kInternal.size()) == kInternal) return true;
  return inner.substr(0, kInternal.size()) == kInternal && function.substr(0, kEntry.size()) == kEntry;
}

namespace {

bool BeginsWithOneOf(std::initializer_list<std::string_view> beginnings, std::string_view text) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [text](std::string_view beginning) { return text.substr(0, beginning.size()) == beginning; });
}

bool HasOneOf(std::initializer_list<std::string_view> parts, std::string_view text) {
  return std::any_of(parts.begin(), parts.end(),
                     [text](std::string_view part) { return text.find(part) != std::string_view::npos; });
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

}  // namespace vramtrack
