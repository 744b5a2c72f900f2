// SPDX-License-Identifier: Apache-2.0
#include "cupti_tracer/cupti_library.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

namespace vramtrack::cupti {
namespace {

// Newest first. From `driver` on, as cuDriverGetVersion has it, the driver serves it; older ones run with any newer
// driver.
struct Release {
  const char* soname;
  int driver;
};
constexpr Release kReleases[] = {
    {"libcupti.so.13", 13000},
    {"libcupti.so.12", 12000},
    {"libcupti.so.11.8", 11080},
};

constexpr size_t kPathBytes = 4096;

const char* FileName(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

// The path of a loaded library whose name begins so; false for none.
bool FindLoaded(const char* beginning, char* path) {
  struct State {
    const char* beginning;
    char* path;
  } state = {beginning, path};
  return dl_iterate_phdr(
             [](dl_phdr_info* info, size_t, void* data) {
               auto* s = static_cast<State*>(data);
               if (strncmp(FileName(info->dlpi_name), s->beginning, strlen(s->beginning)) != 0) return 0;
               if (strlen(info->dlpi_name) >= kPathBytes) return 0;
               strcpy(s->path, info->dlpi_name);
               return 1;
             },
             &state) != 0;
}

int DriverVersion() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (driver == nullptr) return 0;
  const auto get = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDriverGetVersion"));
  int version = 0;
  if (get != nullptr && get(&version) != 0) version = 0;
  dlclose(driver);
  return version;
}

bool Take(void* handle, Library* library) {
  if (handle == nullptr) return false;
  bool complete = true;
#define VRAMTRACK_CUPTI(name, needed, parameters)                            \
  library->name = reinterpret_cast<int(*) parameters>(dlsym(handle, #name)); \
  complete = complete && (!(needed) || library->name != nullptr);
#include "cupti_tracer/cupti_functions.inc"
  return complete && library->cuptiGetVersion(&library->version) == kSuccess;
}

bool OpenByPath(const Release& release, const char* runtime_folder, Library* library) {
  // As the toolkit and the wheels of PyPI lay them out.
  static char path[kPathBytes + 64];
  const char* const kToolkits[] = {"/usr/local/cuda/extras/CUPTI/lib64", "/usr/local/cuda/lib64"};
  const char* const kBeside[] = {"", "/../../cuda_cupti/lib", "/../extras/CUPTI/lib64"};
  for (const char* place : kBeside) {
    if (*runtime_folder == '\0') break;
    snprintf(path, sizeof path, "%s%s/%s", runtime_folder, place, release.soname);
    if (Take(dlopen(path, RTLD_NOW | RTLD_LOCAL), library)) return true;
  }
  for (const char* place : kToolkits) {
    snprintf(path, sizeof path, "%s/%s", place, release.soname);
    if (Take(dlopen(path, RTLD_NOW | RTLD_LOCAL), library)) return true;
  }
  return false;
}

}  // namespace

const char* Library::Text(int result) const {
  const char* text = nullptr;
  if (cuptiGetResultString == nullptr || cuptiGetResultString(result, &text) != kSuccess) text = nullptr;
  return text != nullptr ? text : "an error that it has no name for";
}

bool FindLibrary(Library* library) {
  static char path[kPathBytes];
  if (FindLoaded("libcupti.so", path) && Take(dlopen(path, RTLD_NOW | RTLD_NOLOAD), library)) return true;
  const int driver = DriverVersion();
  path[0] = '\0';
  if (FindLoaded("libcudart.so", path)) {
    char* slash = strrchr(path, '/');
    if (slash != nullptr) *slash = '\0';
  }
  // What the loader finds by itself comes first: a program that has a CUPTI of its own has set that up.
  const auto served = [driver](const Release& release) { return driver == 0 || driver >= release.driver; };
  for (const Release& release : kReleases) {
    if (served(release) && Take(dlopen(release.soname, RTLD_NOW | RTLD_LOCAL), library)) return true;
  }
  for (const Release& release : kReleases) {
    if (served(release) && OpenByPath(release, path, library)) return true;
  }
  return false;
}

}  // namespace vramtrack::cupti
