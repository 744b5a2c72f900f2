// SPDX-License-Identifier: Apache-2.0

#include "analyzer/symbols/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace vramtrack {
namespace {

constexpr std::string_view kStubPrefix = "__device_stub__";

// Long CUTLASS kernels reach some 20 kB. Beyond this a name is damage, and demangling it can take time and stack.
constexpr size_t kMaxMangledLength = 64 * 1024;

struct Free {
  void operator()(char* p) const { std::free(p); }
};

std::string CxaDemangle(std::string_view symbol) {
  if (symbol.size() > kMaxMangledLength) return std::string(symbol);
  int status = 0;
  std::string name(symbol);
  std::unique_ptr<char, Free> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status));
  return status == 0 && text != nullptr ? std::string(text.get()) : name;
}

}  // namespace

bool IsMangled(std::string_view symbol) { return symbol.substr(0, 2) == "_Z"; }

bool IsCudaLaunchStub(std::string_view symbol) {
  // Static kernels have a second function around the stub.
  return symbol.find(kStubPrefix) != std::string_view::npos ||
         symbol.find("__wrapper__device_stub_") != std::string_view::npos;
}

std::string Demangle(std::string_view symbol) {
  std::string name = IsMangled(symbol) ? CxaDemangle(symbol) : std::string(symbol);

  // nvcc builds the stub's own name from the kernel's mangled one without its underscore: __device_stub__Z1fi(int).
  size_t stub = name.find(kStubPrefix);
  if (stub == std::string::npos) return name;
  std::string_view kernel = std::string_view(name).substr(stub + kStubPrefix.size());
  kernel = kernel.substr(0, kernel.find_first_of("( "));
  if (kernel.substr(0, 1) != "Z") return name;
  std::string mangled = "_" + std::string(kernel);
  std::string readable = CxaDemangle(mangled);
  if (readable == mangled) return name;
  return readable + " [launch stub]";
}

}  // namespace vramtrack
