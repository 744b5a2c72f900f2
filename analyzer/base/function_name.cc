// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/function_name.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "analyzer/base/affix.h"

namespace vramtrack {
namespace {

constexpr size_t kLongestTemplateArguments = 24;
constexpr size_t kScopesShown = 2;
constexpr std::string_view kLaunchStub = " [launch stub]";
constexpr std::string_view kOperator = "operator";

bool IsIdentifierChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }

char Closing(char open) {
  switch (open) {
    case '(':
      return ')';
    case '<':
      return '>';
    case '[':
      return ']';
    case '{':
      return '}';
    default:
      return '\0';
  }
}

// Just past the bracket that closes the one at `begin`; the end of the text if none does. Angle brackets inside other
// ones may be comparisons and are not counted there; "->" closes nothing.
size_t BracketEnd(std::string_view text, size_t begin) {
  std::string open;
  for (size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '<' && !open.empty() && Closing(open.back()) != '>' && text[begin] != '<') continue;
    if (c == '>' && i > 0 && text[i - 1] == '-') continue;
    if (Closing(c) != '\0') {
      open.push_back(c);
    } else if (!open.empty() && c == Closing(open.back())) {
      open.pop_back();
      if (open.empty()) return i + 1;
    }
  }
  return text.size();
}

// The first place of `part` that is not within brackets; the end of the text if there is none.
size_t FindOutsideBrackets(std::string_view text, std::string_view part) {
  size_t at = 0;
  while (at < text.size() && !StartsWith(text.substr(at), part)) {
    at = Closing(text[at]) != '\0' ? BracketEnd(text, at) : at + 1;
  }
  return at;
}

// The length of an operator's name at the beginning of `name`: "operator()", "operator<<=", "operator new[]", "operator
// int". 0 if there is none.
size_t OperatorLength(std::string_view name) {
  if (!StartsWith(name, kOperator)) return 0;
  size_t end = kOperator.size();
  if (end < name.size() && IsIdentifierChar(name[end])) return 0;
  const std::string_view rest = name.substr(end);
  for (std::string_view sign : {"()", "[]", "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">"}) {
    if (StartsWith(rest, sign)) return end + sign.size();
  }
  if (StartsWith(rest, " ") || StartsWith(rest, "\"")) {
    // new, delete, a literal's suffix, or the target type of a conversion, with template arguments of its own.
    while (end < name.size() && name[end] != '(') end = name[end] == '<' ? BracketEnd(name, end) : end + 1;
    return end;
  }
  while (end < name.size() && !IsIdentifierChar(name[end]) && name[end] != '(' && name[end] != ' ') ++end;
  return end;
}

// "{lambda(int)#1}" is "{lambda#1}".
std::string ShortBraces(std::string_view braces) {
  size_t open = braces.find('(');
  if (open == std::string_view::npos) return std::string(braces);
  return std::string(braces.substr(0, open)).append(braces.substr(BracketEnd(braces, open)));
}

// Namespaces that nobody writes, at the beginning of `rest`: the length to leave out.
size_t SilentScopeLength(std::string_view rest) {
  for (std::string_view scope : {"(anonymous namespace)::", "{anonymous}::"}) {
    if (StartsWith(rest, scope)) return scope.size();
  }
  // nvcc's and old GCC's names of anonymous namespaces.
  if (StartsWith(rest, "_GLOBAL__N_")) {
    size_t end = rest.find("::");
    return end == std::string_view::npos ? 0 : end + 2;
  }
  return 0;
}

// What ends a parameter list's function and still belongs to it: "() const &::local".
size_t QualifierLength(std::string_view rest) {
  size_t length = 0;
  for (bool found = true; found;) {
    found = false;
    for (std::string_view word : {" const", " volatile", " &&", " &", " noexcept", "&&", "&"}) {
      if (StartsWith(rest.substr(length), word)) {
        length += word.size();
        found = true;
        break;
      }
    }
  }
  return length;
}

// The name without what GCC and Clang append to the symbols of their copies: "f.isra.0.cold" is "f". In mangled names
// the demangler has made " [clone .isra.0]" of it.
std::string_view WithoutCloneSuffixes(std::string_view name) {
  name = name.substr(0, name.find(" [clone "));
  for (;;) {
    std::string_view stem = name;
    while (!stem.empty() && std::isdigit(static_cast<unsigned char>(stem.back()))) stem.remove_suffix(1);
    const bool numbered = stem.size() < name.size() && !stem.empty() && stem.back() == '.';
    if (numbered)
      stem.remove_suffix(1);
    else
      stem = name;
    const size_t dot = stem.rfind('.');
    if (dot == std::string_view::npos || dot == 0) return name;
    std::string_view suffix = stem.substr(dot + 1);
    bool known = suffix == "cold";
    for (std::string_view clone : {"isra", "part", "constprop", "lto_priv", "llvm"})
      known |= numbered && suffix == clone;
    if (!known) return name;
    name = stem.substr(0, dot);
  }
}

class Shortener {
 public:
  explicit Shortener(std::string_view text) : text_(text), has_parameters_(text.find('(') != text.npos) {}

  std::string Run() {
    while (at_ < text_.size() && !done_) Step();
    return std::move(out_);
  }

 private:
  std::string_view Rest() const { return text_.substr(at_); }
  bool AtWordStart() const { return at_ == 0 || !IsIdentifierChar(text_[at_ - 1]); }

  void Step() {
    if (AtWordStart()) {
      if (size_t silent = SilentScopeLength(Rest()); silent != 0) {
        at_ += silent;
        return;
      }
      if (const size_t length = OperatorLength(Rest()); length != 0) {
        Copy(length);
        // "operator< <int>": this space separates no return type.
        if (StartsWith(Rest(), " <")) Copy(1);
        return;
      }
      for (std::string_view type : {"decltype(", "decltype ("}) {
        if (!StartsWith(Rest(), type)) continue;
        Copy(BracketEnd(text_, at_ + type.size() - 1) - at_);
        return;
      }
    }
    switch (text_[at_]) {
      case '<':
        Template();
        return;
      case '{': {
        const size_t end = BracketEnd(text_, at_);
        out_ += ShortBraces(text_.substr(at_, end - at_));
        at_ = end;
        return;
      }
      case '[':
        // An ABI tag.
        at_ = BracketEnd(text_, at_);
        return;
      case '(':
        Parenthesis();
        return;
      case ' ':
        // What came before was the return type, or "virtual thunk to".
        if (has_parameters_) {
          out_.clear();
        } else {
          out_.push_back(' ');
        }
        ++at_;
        return;
      default:
        Copy(1);
        DropInlineNamespace();
        return;
    }
  }

  void Copy(size_t length) {
    out_.append(Rest().substr(0, length));
    at_ += length;
  }

  void Template() {
    const size_t end = BracketEnd(text_, at_);
    std::string_view arguments = text_.substr(at_, end - at_);
    // Python's "<module>" is the name itself.
    if (out_.empty() || arguments.size() <= kLongestTemplateArguments + 2) {
      out_.append(arguments);
    } else {
      out_.append("<...>");
    }
    at_ = end;
  }

  void Parenthesis() {
    // A function that returns a function pointer: "void (*name(int))(char)".
    if (out_.empty() && at_ + 1 < text_.size() && (text_[at_ + 1] == '*' || text_[at_ + 1] == '&')) {
      at_ += 2;
      return;
    }
    size_t end = BracketEnd(text_, at_);
    end += QualifierLength(text_.substr(end));
    // Something inside the function, a lambda mostly, is what the name is about.
    if (StartsWith(text_.substr(end), "::")) {
      at_ = end;
    } else {
      done_ = true;
    }
  }

  void DropInlineNamespace() {
    for (std::string_view scope : {"std::__cxx11::", "std::__1::", "std::__ndk1::"}) {
      if (out_.size() >= scope.size() && out_.compare(out_.size() - scope.size(), scope.size(), scope) == 0) {
        out_.resize(out_.size() - scope.size() + 5);
        return;
      }
    }
  }

  const std::string_view text_;
  const bool has_parameters_;
  size_t at_ = 0;
  bool done_ = false;
  std::string out_;
};

// Rust's "<Type as Trait>::f" and "<Type>::f" are about the type; a type parameter says less than the trait. Empty for
// other names.
std::string RustMethod(std::string_view name) {
  const size_t end = StartsWith(name, "<") ? BracketEnd(name, 0) : name.size();
  if (!StartsWith(name.substr(end), "::")) return "";
  std::string_view type = name.substr(1, end - 2);
  if (const size_t as = FindOutsideBrackets(type, " as "); as < type.size()) {
    const std::string_view trait = type.substr(as + 4);
    type = Contains(type.substr(0, as), "::") ? type.substr(0, as) : trait;
  }
  return QualifiedName(type).append(name.substr(end));
}

// A part of a qualified name without its template arguments.
std::string_view WithoutArguments(std::string_view part) {
  if (StartsWith(part, "{lambda") || StartsWith(part, "{unnamed")) return "{lambda}";
  if (const size_t length = OperatorLength(part); length != 0) return part.substr(0, length);
  const size_t open = part.find('<');
  const bool follows_name = open != part.npos && (open == 0 || IsIdentifierChar(part[open - 1]));
  return follows_name ? part.substr(0, open) : part;
}

}  // namespace

std::string QualifiedName(std::string_view demangled) {
  std::string_view name = WithoutCloneSuffixes(demangled);
  std::string_view suffix;
  if (name.size() > kLaunchStub.size() && EndsWith(name, kLaunchStub)) {
    suffix = kLaunchStub;
    name.remove_suffix(kLaunchStub.size());
  }
  const std::string method = RustMethod(name);
  std::string result = Shortener(method.empty() ? name : method).Run();
  if (result.empty()) return std::string(demangled);
  return result.append(suffix);
}

std::string ShortFunctionName(std::string_view demangled) {
  const std::string qualified = QualifiedName(demangled);
  std::string_view left = qualified;
  if (EndsWith(left, kLaunchStub)) left.remove_suffix(kLaunchStub.size());
  std::vector<std::string_view> scopes;
  while (!left.empty()) {
    const size_t operator_end = OperatorLength(left);  // its type may have a scope
    const size_t end = operator_end + FindOutsideBrackets(left.substr(operator_end), "::");
    if (const std::string_view scope = WithoutArguments(left.substr(0, end)); !scope.empty()) scopes.push_back(scope);
    left.remove_prefix(std::min(end + 2, left.size()));
  }
  if (scopes.empty()) return std::string(demangled);
  std::string name;
  for (size_t i = scopes.size() - std::min(kScopesShown, scopes.size()); i < scopes.size(); ++i) {
    name.append(name.empty() ? "" : "::").append(scopes[i]);
  }
  return name;
}

}  // namespace vramtrack
