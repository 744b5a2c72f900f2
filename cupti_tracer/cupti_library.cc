// SPDX-License-Identifier: Apache-2.0
#include "cupti_tracer/cupti_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
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
    if (handle == nullptr) {
      NoteUnlessMissing(path, dlerror());
      return false;
    }
    Library candidate;
    if (!IsWhole(handle, &candidate)) {
      dlclose(handle);
      return false;
    }
    if (candidate.version >= too_new_) return false;
    *library_ = candidate;
    *result_ = start_(*library_);
    too_new_ = library_->version;
    return !IsTooNew(*result_);
  }

  // What is wrong with the first one that is there and cannot be used, null for none. Valid for good.
  const char* defect() const { return *defect_ != '\0' ? defect_ : nullptr; }

 private:
  bool IsWhole(void* handle, Library* library) {
    const char* missing = nullptr;
#define VRAMTRACK_CUPTI(name, needed, parameters)                               \
  library->name = reinterpret_cast<int(*) parameters>(look_up_(handle, #name)); \
  if ((needed) && library->name == nullptr && missing == nullptr) missing = #name;
#include "cupti_tracer/cupti_functions.inc"
    if (missing == nullptr && library->cuptiGetVersion(&library->version) == kSuccess) return true;
    link_map* loaded = nullptr;
    const char* path = dlinfo(handle, RTLD_DI_LINKMAP, &loaded) == 0 ? loaded->l_name : "a libcupti";
    if (missing != nullptr) {
      Note("%s has no %s", path, missing);
    } else {
      Note("%s does not report its version", path);
    }
    return false;
  }

  // The loader's words are in the user's language, but for the library's name that they begin with.
  void NoteUnlessMissing(const char* path, const char* error) {
    if (error == nullptr) return;
    const bool of_itself = strncmp(error, path, strlen(path)) == 0 && error[strlen(path)] == ':';
    if (!of_itself || strstr(error, strerror(ENOENT)) == nullptr) Note("%s", error);
  }

  __attribute__((format(printf, 2, 3))) void Note(const char* format, ...) {
    if (*defect_ != '\0') return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(defect_, sizeof defect_, format, arguments);
    va_end(arguments);
  }

  LookUp look_up_;
  int (*start_)(const Library& library);
  Library* library_;
  int* result_;
  uint32_t too_new_ = UINT32_MAX;  // this version, and all newer ones
  static inline char defect_[400] = "";
};

// Where NVIDIA's toolkit is.
const char* Toolkit() {
  const char* named = getenv("CUDA_HOME");
  return named != nullptr && *named != '\0' ? named : "/usr/local/cuda";
}

bool TryByPath(const Release& release, const char* runtime_folder, Search* search) {
  // As the toolkit and the wheels of PyPI lay them out.
  static char path[kPathBytes + 64];
  const char* const kInToolkit[] = {"extras/CUPTI/lib64", "lib64"};
  const char* const kBeside[] = {"", "/../../cuda_cupti/lib", "/../extras/CUPTI/lib64"};
  for (const char* place : kBeside) {
    if (*runtime_folder == '\0') break;
    snprintf(path, sizeof path, "%s%s/%s", runtime_folder, place, release.soname);
    if (search->Try(path, RTLD_NOW)) return true;
  }
  for (const char* place : kInToolkit) {
    snprintf(path, sizeof path, "%s/%s/%s", Toolkit(), place, release.soname);
    if (search->Try(path, RTLD_NOW)) return true;
  }
  return false;
}

// As Search::Try.
bool TryAll(Search* search) {
  static char path[kPathBytes];
  if (FindLoaded("libcupti.so", path) && search->Try(path, RTLD_NOW | RTLD_NOLOAD)) return true;
  const int driver = DriverVersion();
  path[0] = '\0';
  if (FindLoaded("libcudart.so", path)) {
    char* slash = strrchr(path, '/');
    if (slash != nullptr) *slash = '\0';
  }
  // What the loader finds by itself comes first: a program that has a CUPTI of its own has set that up.
  const auto served = [driver](const Release& release) { return driver == 0 || driver >= release.driver; };
  for (const Release& release : kReleases) {
    if (served(release) && search->Try(release.soname, RTLD_NOW)) return true;
  }
  for (const Release& release : kReleases) {
    if (served(release) && TryByPath(release, path, search)) return true;
  }
  return false;
}

}  // namespace

const char* Library::Text(int result) const {
  const char* text = nullptr;
  if (cuptiGetResultString == nullptr || cuptiGetResultString(result, &text) != kSuccess) text = nullptr;
  return text != nullptr ? text : "an unknown error";
}

bool IsTooNew(int result) { return result == kNotInitialized || result == kNotCompatible; }

const void* LoadedLibrary(LookUp look_up) {
  static char path[kPathBytes];
  void* handle = FindLoaded("libcupti.so", path) ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : nullptr;
  return handle != nullptr ? look_up(handle, "cuptiActivityRegisterCallbacks") : nullptr;
}

bool FindLibrary(LookUp look_up, int (*start)(const Library& library), Library* library, int* result,
                 const char** defect) {
  Search search(look_up, start, library, result);
  *result = kSuccess;
  *defect = nullptr;
  if (TryAll(&search)) return *result == kSuccess;
  *defect = search.defect();
  return false;
}

}  // namespace vramtrack::cupti
