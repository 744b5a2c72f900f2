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

// Takes one CUPTI after the other until one starts.
class Search {
 public:
  Search(LookUp look_up, int (*start)(const Library& library), Library* library, int* result)
      : look_up_(look_up), start_(start), library_(library), result_(result) {}

  // Whether it was the last to try: it has started, or failed for a reason that an older one has, too.
  bool Try(const char* path, int flags) {
    void* handle = dlopen(path, RTLD_LOCAL | flags);
    if (handle == nullptr || !Take(handle)) return false;
    *result_ = start_(*library_);
    too_new_ = library_->version;
    return !IsTooNew(*result_);
  }

 private:
  bool Take(void* handle) {
    bool complete = true;
#define VRAMTRACK_CUPTI(name, needed, parameters)                                \
  library_->name = reinterpret_cast<int(*) parameters>(look_up_(handle, #name)); \
  complete = complete && (!(needed) || library_->name != nullptr);
#include "cupti_tracer/cupti_functions.inc"
    return complete && library_->cuptiGetVersion(&library_->version) == kSuccess && library_->version < too_new_;
  }

  LookUp look_up_;
  int (*start_)(const Library& library);
  Library* library_;
  int* result_;
  uint32_t too_new_ = UINT32_MAX;  // this version, and all newer ones
};

bool TryByPath(const Release& release, const char* runtime_folder, Search* search) {
  // As the toolkit and the wheels of PyPI lay them out.
  static char path[kPathBytes + 64];
  const char* const kToolkits[] = {"/usr/local/cuda/extras/CUPTI/lib64", "/usr/local/cuda/lib64"};
  const char* const kBeside[] = {"", "/../../cuda_cupti/lib", "/../extras/CUPTI/lib64"};
  for (const char* place : kBeside) {
    if (*runtime_folder == '\0') break;
    snprintf(path, sizeof path, "%s%s/%s", runtime_folder, place, release.soname);
    if (search->Try(path, RTLD_NOW)) return true;
  }
  for (const char* place : kToolkits) {
    snprintf(path, sizeof path, "%s/%s", place, release.soname);
    if (search->Try(path, RTLD_NOW)) return true;
  }
  return false;
}

}  // namespace

const char* Library::Text(int result) const {
  const char* text = nullptr;
  if (cuptiGetResultString == nullptr || cuptiGetResultString(result, &text) != kSuccess) text = nullptr;
  return text != nullptr ? text : "an error that it has no name for";
}

bool IsTooNew(int result) { return result == kNotInitialized || result == kNotCompatible; }

const void* LoadedLibrary(LookUp look_up) {
  static char path[kPathBytes];
  void* handle = FindLoaded("libcupti.so", path) ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : nullptr;
  return handle != nullptr ? look_up(handle, "cuptiActivityRegisterCallbacks") : nullptr;
}

bool FindLibrary(LookUp look_up, int (*start)(const Library& library), Library* library, int* result) {
  Search search(look_up, start, library, result);
  *result = kSuccess;
  static char path[kPathBytes];
  if (FindLoaded("libcupti.so", path) && search.Try(path, RTLD_NOW | RTLD_NOLOAD)) return *result == kSuccess;
  const int driver = DriverVersion();
  path[0] = '\0';
  if (FindLoaded("libcudart.so", path)) {
    char* slash = strrchr(path, '/');
    if (slash != nullptr) *slash = '\0';
  }
  // What the loader finds by itself comes first: a program that has a CUPTI of its own has set that up.
  const auto served = [driver](const Release& release) { return driver == 0 || driver >= release.driver; };
  for (const Release& release : kReleases) {
    if (served(release) && search.Try(release.soname, RTLD_NOW)) return *result == kSuccess;
  }
  for (const Release& release : kReleases) {
    if (served(release) && TryByPath(release, path, &search)) return *result == kSuccess;
  }
  return false;
}

}  // namespace vramtrack::cupti
