// SPDX-License-Identifier: Apache-2.0
#include "analyzer/attribution/library.h"

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

bool IsInstalledLibrary(std::string_view path) {
  for (const std::string_view folder : {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/", "/usr/local/lib/",
                                        "/usr/local/lib64/", "/usr/local/cuda", "/opt/nvidia/", "/nix/store/"}) {
    if (path.substr(0, folder.size()) == folder) return true;
  }
  for (const std::string_view folder : {"/site-packages/", "/dist-packages/"}) {
    if (path.find(folder) != std::string_view::npos) return true;
  }
  // Wherever they are: in an environment of conda's, unpacked next to a program.
  const std::string_view name = ModuleName(path);
  for (const std::string_view library : {"libcu", "libnccl", "libnv", "libnpp", "libstdc++.", "libgcc_s.", "libc.so",
                                         "libm.so", "libpthread", "libpython", "ld-linux"}) {
    if (name.substr(0, library.size()) == library) return true;
  }
  return IsPyTorch(path) || IsAllocationPlumbing(path);
}

bool IsSystemHeader(std::string_view file) {
  for (const std::string_view folder : {"/usr/include/", "/usr/lib/", "/usr/local/include/", "/usr/local/cuda"}) {
    if (file.substr(0, folder.size()) == folder) return true;
  }
  // Wherever they are: the standard library, PyTorch's and CUDA's templates, which are compiled into the program.
  for (const std::string_view folder : {"/include/c++/", "/site-packages/", "/dist-packages/", "/include/ATen/",
                                        "/include/c10/", "/include/torch/", "/include/thrust/", "/include/cub/"}) {
    if (file.find(folder) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace vramtrack
