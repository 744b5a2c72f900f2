// SPDX-License-Identifier: Apache-2.0
#include "analyzer/profile/canonical_frame.h"

#include <cctype>

#include "analyzer/attribution/glue.h"
#include "analyzer/attribution/library.h"
#include "analyzer/attribution/python_file.h"
#include "analyzer/base/affix.h"
#include "analyzer/base/function_name.h"

namespace vramtrack {
namespace {

constexpr std::string_view kProgram = "(program)";

bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }
bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }
bool IsHex(char c) { return std::isxdigit(static_cast<unsigned char>(c)); }

// Just past the bracket that closes the angle bracket at `begin`. Round brackets may contain a comparison.
size_t AngleEnd(std::string_view text, size_t begin) {
  int angles = 0, others = 0;
  for (size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '[' || c == '{') ++others;
    if (c == ')' || c == ']' || c == '}') --others;
    if (others > 0) continue;
    if (c == '<') ++angles;
    if (c == '>' && text[i - 1] != '-' && --angles == 0) return i + 1;
  }
  return text.size();
}

// The length of the signs behind "operator".
size_t OperatorSigns(std::string_view rest) {
  for (const std::string_view signs : {"()", "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">"}) {
    if (StartsWith(rest, signs)) return signs.size();
  }
  return 0;
}

// "{lambda#2}" is "{lambda}", "{unnamed type#1}" is "{unnamed type}".
std::string WithoutOrdinal(std::string_view braces) {
  const size_t number = braces.find('#');
  return number == std::string_view::npos ? std::string(braces) : std::string(braces.substr(0, number)) + "}";
}

// The name without ".so" and all that follows it; `end` becomes what is to be put there.
std::string_view Stem(std::string_view name, std::string_view* end) {
  const size_t at = name.find(".so");
  if (at == std::string_view::npos || (at + 3 < name.size() && name[at + 3] != '.')) return name;
  *end = ".so";
  return name.substr(0, at);
}

std::string_view WithoutVersion(std::string_view name) {
  size_t end = name.size();
  while (end > 0 && (IsDigit(name[end - 1]) || name[end - 1] == '.')) --end;
  if (end == 0 || end == name.size()) return name;
  if (name[end - 1] == '-' || name[end - 1] == '_') return name.substr(0, end - 1);
  // "python3.11", but not "libc10" nor "md5".
  return name.substr(end).find('.') == std::string_view::npos ? name : name.substr(0, end);
}

// What auditwheel puts before ".so": a dash and eight or more hexadecimal digits.
std::string_view WithoutHash(std::string_view name) {
  const size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || dash == 0 || name.size() - dash - 1 < 8) return name;
  for (const char c : name.substr(dash + 1)) {
    if (!IsHex(c)) return name;
  }
  return name.substr(0, dash);
}

std::string_view Below(std::string_view path, std::string_view folder) {
  if (folder.size() < 2 || path.size() <= folder.size() + 1 || !StartsWith(path, folder)) return {};
  return path[folder.size()] == '/' ? path.substr(folder.size() + 1) : std::string_view();
}

bool IsSystemModule(std::string_view path) {
  for (const std::string_view folder : {"/usr/lib", "/lib/", "/lib64/", "/opt/", "/usr/local/cuda"}) {
    if (StartsWith(path, folder)) return true;
  }
  return Contains(path, "/site-packages/") || Contains(path, "/dist-packages/");
}

std::string CanonicalText(std::string_view text, TemplateArguments arguments) {
  constexpr std::string_view kOperator = "operator";
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const bool begins_word = at == 0 || !IsWord(text[at - 1]);
    if (begins_word && StartsWith(rest, kOperator)) {
      const size_t length = kOperator.size() + OperatorSigns(rest.substr(kOperator.size()));
      out.append(rest.substr(0, length));
      at += length;
    } else if (begins_word && StartsWith(rest, "$_")) {  // Clang's lambdas
      out.append("{lambda}");
      for (at += 2; at < text.size() && IsDigit(text[at]);) ++at;
    } else if (rest[0] == '<') {
      if (!out.empty() && out.back() == ' ') out.pop_back();
      const size_t end = AngleEnd(text, at);
      if (arguments == TemplateArguments::kDrop || end - at < 2) {
        out.append("<...>");
      } else {
        out.append("<").append(CanonicalText(text.substr(at + 1, end - at - 2), arguments)).append(">");
      }
      at = end;
    } else if (rest[0] == '{') {
      const size_t end = text.find('}', at);
      const size_t length = (end == std::string_view::npos ? text.size() : end + 1) - at;
      out.append(WithoutOrdinal(rest.substr(0, length)));
      at += length;
    } else {
      out.push_back(rest[0]);
      ++at;
    }
  }
  return out;
}

}  // namespace

std::string CanonicalFunction(std::string_view demangled, TemplateArguments arguments) {
  return CanonicalText(QualifiedName(demangled), arguments);
}

std::string CanonicalModule(std::string_view path) {
  std::string_view end;
  std::string_view name = Stem(ModuleName(path), &end);
  if (const size_t tag = name.find(".cpython-"); tag != std::string_view::npos) name = name.substr(0, tag);
  if (const size_t tag = name.find(".abi3"); tag != std::string_view::npos) name = name.substr(0, tag);
  name = WithoutVersion(WithoutHash(name));
  return std::string(name).append(end);
}

std::string CanonicalPythonFile(std::string_view path, const CodeRoots& roots) {
  if (const std::string_view below = Below(path, roots.script_directory);
      !below.empty() && !Contains(below, "/site-packages/")) {
    return std::string(below);
  }
  return std::string(ShownPythonFile(path, roots.working_directory));
}

CodeRoots RootsOf(const TracedProcess& process) {
  CodeRoots roots;
  roots.executable = process.executable;
  roots.working_directory = process.working_directory;
  for (size_t i = 1; i < process.command.size(); ++i) {
    const std::string& argument = process.command[i];
    if (!EndsWith(argument, ".py")) continue;
    const size_t slash = argument.rfind('/');
    const std::string folder = slash == std::string::npos ? "" : argument.substr(0, slash);
    if (StartsWith(folder, "/")) {
      roots.script_directory = folder;
    } else {
      roots.script_directory = folder.empty() ? roots.working_directory : roots.working_directory + "/" + folder;
    }
    break;
  }
  return roots;
}

CanonicalFrame Canonical(const ReportFrame& frame, const CodeRoots& roots) {
  CanonicalFrame canonical;
  canonical.inlined = frame.inlined;
  if (frame.origin == ReportFrame::Origin::kNode) {
    canonical.place = "(backward)";
    canonical.name = frame.function;
    return canonical;
  }
  if (frame.language == Language::kPython) {
    canonical.place = CanonicalPythonFile(frame.file, roots);
    if (frame.forward) canonical.place.insert(0, "forward ");
    canonical.name = frame.function;
    canonical.own = frame.origin == ReportFrame::Origin::kJob;
    return canonical;
  }
  // A program may be called something else in each run.
  const bool program = !roots.executable.empty() && ModuleName(frame.module) == ModuleName(roots.executable);
  canonical.place = program ? std::string(kProgram) : CanonicalModule(frame.module);
  // "0x12ab" is a function of no module.
  if (!IsNameless(frame) && !StartsWith(frame.function, "0x")) {
    canonical.name = CanonicalFunction(frame.function, TemplateArguments::kDrop);
    canonical.exact_name = CanonicalFunction(frame.function, TemplateArguments::kKeep);
  }
  canonical.own = program || (!frame.module.empty() && !IsSystemModule(frame.module));
  return canonical;
}

}  // namespace vramtrack
