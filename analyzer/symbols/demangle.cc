// SPDX-License-Identifier: Apache-2.0

#include "analyzer/symbols/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace vramtrack {
namespace {

constexpr std::string_view kStubPrefix = "__device_stub__";

struct Free {
  void operator()(char* p) const { std::free(p); }
};

// The scopes and the name at the beginning of a mangled name, up to the first template arguments:
// "_ZN7cutlass13device_kernelI…" is "cutlass::device_kernel<...>". Empty if it does not begin with plain names.
std::string Outline(std::string_view mangled) {
  mangled.remove_prefix(2);
  std::string name;
  while (!mangled.empty()) {
    const char c = mangled.front();
    if (c == 'I') return name.empty() ? name : name + "<...>";
    if (c == 'N' || c == 'L' || c == 'K') {  // a nested name, of internal linkage, a const member
      mangled.remove_prefix(1);
      continue;
    }
    size_t length = 0;
    while (!mangled.empty() && mangled.front() >= '0' && mangled.front() <= '9' && length < mangled.size()) {
      length = length * 10 + static_cast<size_t>(mangled.front() - '0');
      mangled.remove_prefix(1);
    }
    if (length == 0 || length > mangled.size()) return name;
    std::string_view part = mangled.substr(0, length);
    if (!name.empty()) name.append("::");
    name.append(part.substr(0, 11) == "_GLOBAL__N_" ? "(anonymous namespace)" : part);
    mangled.remove_prefix(length);
  }
  return name;
}

std::string CxaDemangle(std::string_view symbol) {
  int status = 0;
  std::string name(symbol);
  std::unique_ptr<char, Free> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status));
  if (status == 0 && text != nullptr) return text.get();
  // libstdc++ refuses names of more than 1,024 characters to protect the stack; kernels of CUTLASS reach 20,000.
  constexpr size_t kLongestDemangled = 1024;
  std::string outline = symbol.size() > kLongestDemangled ? Outline(symbol) : "";
  return outline.empty() ? name : outline;
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
