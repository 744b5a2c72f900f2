// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/function_name.h"

#include <algorithm>
#include <vector>

namespace vramtrack {
namespace {

constexpr size_t kScopesShown = 2;

char Closing(char open) { return open == '(' ? ')' : open == '<' ? '>' : open == '[' ? ']' : '}'; }

// The position behind the bracket that closes the one at `open`; the end if it is never closed.
size_t BehindBracket(std::string_view name, size_t open) {
  std::vector<char> closing;
  for (size_t at = open; at < name.size(); ++at) {
    char c = name[at];
    if (c == '(' || c == '<' || c == '[' || c == '{') {
      closing.push_back(Closing(c));
    } else if (c == '>' && at > 0 && name[at - 1] == '-') {
      continue;  // "->"
    } else if (c == ')' || c == '>' || c == ']' || c == '}') {
      while (!closing.empty() && closing.back() != c) closing.pop_back();
      if (closing.empty()) return name.size();
      closing.pop_back();
      if (closing.empty()) return at + 1;
    }
  }
  return name.size();
}

bool StartsWith(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

bool IsWord(char c) { return c == '_' || c == '$' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z'); }

// The length of an operator's name at the beginning of `name`, "operator()" for instance; 0 if there is none.
size_t OperatorName(std::string_view name) {
  constexpr std::string_view kOperator = "operator";
  if (!StartsWith(name, kOperator)) return 0;
  size_t at = kOperator.size();
  if (at < name.size() && IsWord(name[at])) return 0;
  for (std::string_view brackets : {"()", "[]", "\"\" "}) {
    if (StartsWith(name.substr(at), brackets)) return at + brackets.size();
  }
  if (at < name.size() && name[at] == ' ') {  // a conversion, new or delete: up to the parameters
    size_t end = name.find('(', at);
    return end == std::string_view::npos ? name.size() : end;
  }
  constexpr std::string_view kSigns = "+-*/%^&|~!=<>,";
  while (at < name.size() && kSigns.find(name[at]) != std::string_view::npos) ++at;
  return at;
}

}  // namespace

std::string ShortFunctionName(std::string_view demangled) {
  std::vector<std::string> scopes(1);
  bool parameters_seen = false;
  for (size_t at = 0; at < demangled.size();) {
    std::string_view rest = demangled.substr(at);
    bool begins_word = at == 0 || !IsWord(demangled[at - 1]);
    if (StartsWith(rest, "(anonymous namespace)::")) {
      at += std::string_view("(anonymous namespace)::").size();
      continue;
    }
    if (begins_word) {
      if (size_t bytes = OperatorName(rest)) {
        scopes.back() = std::string(rest.substr(0, bytes));
        at += bytes;
        continue;
      }
    }
    if (StartsWith(rest, "::")) {
      parameters_seen = false;  // they were those of the scope: a lambda's, a local class's
      scopes.emplace_back();
      at += 2;
      continue;
    }
    char c = demangled[at];
    if (c == '{') {
      size_t end = BehindBracket(demangled, at);
      bool lambda = StartsWith(rest, "{lambda") || StartsWith(rest, "{unnamed");
      scopes.back() = lambda ? "{lambda}" : std::string(demangled.substr(at, end - at));
      at = end;
    } else if (c == '<' && (at > 0 && (IsWord(demangled[at - 1]) || demangled[at - 1] == ' '))) {
      at = BehindBracket(demangled, at);
    } else if (c == '<' && at == 0) {
      return std::string(demangled);  // Python's "<module>", "<lambda>"
    } else if (c == '(') {
      at = BehindBracket(demangled, at);
      parameters_seen = true;
    } else if (c == '[') {
      at = BehindBracket(demangled, at);  // "[clone .isra.0]", "[abi:cxx11]"
    } else if (c == ' ') {
      bool arguments_follow = rest.size() > 1 && rest[1] == '<';        // "operator<< <char>"
      if (!parameters_seen && !arguments_follow) scopes.assign(1, "");  // what stood before was the return type
      ++at;
    } else {
      if (!parameters_seen) scopes.back() += c;
      ++at;
    }
  }
  scopes.erase(std::remove(scopes.begin(), scopes.end(), ""), scopes.end());
  if (scopes.empty()) return std::string(demangled);
  std::string name;
  for (size_t i = scopes.size() - std::min(kScopesShown, scopes.size()); i < scopes.size(); ++i) {
    if (!name.empty()) name += "::";
    name += scopes[i];
  }
  return name;
}

}  // namespace vramtrack
