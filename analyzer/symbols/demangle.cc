// SPDX-License-Identifier: Apache-2.0

#include "analyzer/symbols/demangle.h"

#define HAVE_DECL_BASENAME 1  // or libiberty.h declares it another way than string.h
#include <libiberty/demangle.h>

#include <csetjmp>
#include <cstddef>
#include <string>
#include <string_view>

namespace vramtrack {
namespace {

constexpr std::string_view kStubPrefix = "__device_stub__";

// What a demangler prints. Substitutions can make gigabytes of a name of 200 characters, and neither demangler has a
// limit.
struct Output {
  std::string text;
  std::jmp_buf too_long;
};

void Append(const char* text, size_t size, void* output) {
  constexpr size_t kLongest = 64 << 10;
  auto* out = static_cast<Output*>(output);
  if (out->text.size() + size > kLongest) std::longjmp(out->too_long, 1);  // there is no other way to stop it
  out->text.append(text, size);
}

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

// False if `symbol` is not a name of the language, or is too long.
template <typename Demangler>
bool Print(Demangler* demangler, const std::string& symbol, Output* output) {
  return setjmp(output->too_long) == 0 && demangler(symbol.c_str(), DMGL_PARAMS | DMGL_ANSI, Append, output) != 0;
}

std::string Readable(const std::string& symbol) {
  constexpr size_t kLongestRust = 8192;  // Debian 11's demangler descends without a limit
  constexpr size_t kLongest = 1024;      // that of C++ refuses longer ones to protect the stack; CUTLASS reaches 20,000
  Output output;
  // Rust's first: its older names are names of C++ with a hash at the end.
  if (symbol.size() <= kLongestRust && Print(rust_demangle_callback, symbol, &output)) return output.text;
  output.text.clear();
  if (Print(cplus_demangle_v3_callback, symbol, &output)) return output.text;
  const bool too_long = symbol.size() > kLongest || !output.text.empty();
  const std::string outline = too_long ? Outline(symbol) : "";
  return outline.empty() ? symbol : outline;
}

}  // namespace

bool IsMangled(std::string_view symbol) {
  const std::string_view prefix = symbol.substr(0, 2);
  return prefix == "_Z" || prefix == "_R";
}

bool IsCudaLaunchStub(std::string_view symbol) {
  // Static kernels have a second function around the stub.
  return symbol.find(kStubPrefix) != std::string_view::npos ||
         symbol.find("__wrapper__device_stub_") != std::string_view::npos;
}

std::string Demangle(std::string_view symbol) {
  std::string name = IsMangled(symbol) ? Readable(std::string(symbol)) : std::string(symbol);

  // nvcc builds the stub's own name from the kernel's mangled one without its underscore: __device_stub__Z1fi(int).
  size_t stub = name.find(kStubPrefix);
  if (stub == std::string::npos) return name;
  std::string_view kernel = std::string_view(name).substr(stub + kStubPrefix.size());
  kernel = kernel.substr(0, kernel.find_first_of("( "));
  if (kernel.substr(0, 1) != "Z") return name;
  std::string mangled = "_" + std::string(kernel);
  std::string readable = Readable(mangled);
  if (readable == mangled) return name;
  return readable + " [launch stub]";
}

}  // namespace vramtrack
