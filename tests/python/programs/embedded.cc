// SPDX-License-Identifier: Apache-2.0
//
// usage: embedded LIBPYTHON HOME. A program with Python in it, loaded so that nobody else finds its symbols.
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

namespace {

struct MethodDef {
  const char* name;
  void* (*function)(void*, void*);
  int flags;
  const char* doc;
};
constexpr int kTakesOneObject = 8;

void* library;
template <typename Function>
Function Get(const char* name) {
  void* found = dlsym(library, name);
  if (found == nullptr) {
    fprintf(stderr, "no %s\n", name);
    exit(1);
  }
  return reinterpret_cast<Function>(found);
}

void Allocate(size_t size) {
  void* block = nullptr;
  if (cudaMalloc(&block, size) == cudaSuccess) cudaFree(block);
}

void* AllocateFor(void*, void* size) {
  Allocate(Get<size_t (*)(void*)>("PyLong_AsSize_t")(size));
  return Get<void* (*)(long)>("PyLong_FromLong")(0);
}

MethodDef allocate = {"allocate", AllocateFor, kTakesOneObject, nullptr};

void Run(const char* code) {
  Get<void (*)(int)>("Py_InitializeEx")(0);
  void* module = Get<void* (*)(const char*)>("PyImport_AddModule")("__main__");
  void* function = Get<void* (*)(MethodDef*, void*, void*)>("PyCFunction_NewEx")(&allocate, nullptr, nullptr);
  Get<int (*)(void*, const char*, void*)>("PyObject_SetAttrString")(module, "allocate", function);
  if (Get<int (*)(const char*, void*)>("PyRun_SimpleStringFlags")(code, nullptr) != 0) exit(1);
  Get<int (*)()>("Py_FinalizeEx")();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  setenv("PYTHONHOME", argv[2], 1);
  Allocate(800);
  library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  Allocate(801);
  Run("def first(): allocate(802)\nfirst()");
  Allocate(803);
  Run("def second(): allocate(804)\nsecond()");
  Allocate(805);
  dlclose(library);
  Allocate(806);
  puts("done");
  return 0;
}
