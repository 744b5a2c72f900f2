// SPDX-License-Identifier: Apache-2.0
#include "analyzer/check/limits.h"

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
// Tables of limits in a list are the deepest there is. See kMostDotsOfLine.
#define TOML_MAX_NESTED_VALUES 16
// The parser asserts what a damaged file does not keep to, and with NDEBUG has the compiler take it for granted:
// neither is wanted, as it goes on to a proper error without.
#define TOML_ASSERT(expr) static_cast<void>(0)
#pragma push_macro("NDEBUG")
#undef NDEBUG
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "analyzer/base/choices.h"
#include "analyzer/base/display_text.h"
#include "analyzer/model/check_report.h"

namespace vramtrack {
namespace {

// The parser limits how deep values nest, but not how many parts a dotted key has. Each part is a table inside the
// previous one, and they are freed by recursion: too many would use up the stack.
constexpr int kMostDotsOfLine = 256;

// 0, or the first line with more dots than any key, number or text of a budget has.
int LineOfTooManyDots(std::string_view text) {
  int line = 1, dots = 0;
  for (const char c : text) {
    if (c == '\n') {
      ++line;
      dots = 0;
    } else if (c == '.' && ++dots > kMostDotsOfLine) {
      return line;
    }
  }
  return 0;
}

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  Budgets Read(const toml::table& file);
  // Of the mistake that comes first in the file; OK if there is none.
  absl::Status status() const {
    if (mistakes_.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(mistakes_.begin()->second);
  }

 private:
  enum class Of { kJob, kDevice, kRank };

  std::string PlaceOf(const toml::node& node) const { return absl::StrCat(path_, ":", node.source().begin.line); }
  void Mistake(const toml::node& node, const std::string& what) {
    mistakes_.emplace(std::make_pair(node.source().begin.line, node.source().begin.column),
                      absl::StrCat(PlaceOf(node), ": ", what));
  }
  void NoSuchKey(const toml::key& key, const std::string& table, const std::vector<std::string>& there_are);
  // Null, and a mistake, if it is no table.
  const toml::table* Table(const toml::node& node, const std::string& name);
  std::optional<Limit> ReadLimit(const std::string& name, const toml::node& node, LimitUnit unit);
  void ReadLimits(const toml::table& table, const std::string& name, Of of, Limits* limits);
  template <typename Number>
  void ReadNumbered(const toml::node& node, const std::string& name, Of of, std::map<Number, Limits>* to);
  void ReadException(const toml::table& table, CheckException* exception);
  void ReadText(const std::string& key, const toml::node& node, std::string* text);

  const std::string& path_;
  std::map<std::pair<uint32_t, uint32_t>, std::string> mistakes_;  // by line and column
};

void Reader::NoSuchKey(const toml::key& key, const std::string& table, const std::vector<std::string>& there_are) {
  mistakes_.emplace(std::make_pair(key.source().begin.line, key.source().begin.column),
                    absl::StrCat(path_, ":", key.source().begin.line, ": ",
                                 UnknownChoice("key", std::string(key.str()), there_are, " in " + table)));
}

const toml::table* Reader::Table(const toml::node& node, const std::string& name) {
  if (node.is_table()) return node.as_table();
  Mistake(node, absl::StrCat(name, ": not a table (write [", name, "])"));
  return nullptr;
}

std::optional<Limit> Reader::ReadLimit(const std::string& name, const toml::node& node, LimitUnit unit) {
  absl::StatusOr<Limit> limit = absl::InvalidArgumentError("expected a string such as \"2 GiB\", or a number");
  if (const auto* text = node.as_string()) {
    limit = ParseLimit(text->get(), unit);
  } else if (const auto* integer = node.as_integer()) {
    limit = LimitOfNumber(static_cast<double>(integer->get()), unit);
  } else if (const auto* number = node.as_floating_point()) {
    limit = LimitOfNumber(number->get(), unit);
  }
  if (!limit.ok()) {
    Mistake(node, absl::StrCat(name, ": ", std::string(limit.status().message())));
    return std::nullopt;
  }
  limit->place = PlaceOf(node);
  return *limit;
}

void Reader::ReadLimits(const toml::table& table, const std::string& name, Of of, Limits* limits) {
  std::vector<std::string> there_are;
  const auto may_be = [of](const LimitKind& kind) {
    return of == Of::kJob || (of == Of::kDevice ? kind.of_device : kind.of_rank);
  };
  for (const LimitKind& kind : kLimitKinds) {
    if (may_be(kind)) there_are.push_back(kind.key);
  }
  if (of != Of::kRank) there_are.push_back("categories");
  for (const auto& [key, node] : table) {
    if (key.str() == "categories" && of != Of::kRank) {
      const toml::table* categories = Table(node, name + ".categories");
      if (categories == nullptr) continue;
      for (const auto& [category, limit_node] : *categories) {
        const std::string category_name(category.str());
        if (auto limit = ReadLimit(Printable(category_name), limit_node, LimitUnit::kBytes)) {
          limits->categories[category_name] = *limit;
        }
      }
      continue;
    }
    const LimitKind* known = nullptr;
    for (const LimitKind& kind : kLimitKinds) {
      if (key.str() == kind.key && may_be(kind)) known = &kind;
    }
    if (known == nullptr) {
      NoSuchKey(key, absl::StrCat("[", name, "]"), there_are);
      continue;
    }
    std::optional<Limit> limit = ReadLimit(known->key, node, known->unit);
    if (of == Of::kRank && limit && limit->share) {
      Mistake(node, absl::StrCat(known->key, ": a rank needs a size (a percentage is of one device)"));
      continue;
    }
    limits->*known->limit = std::move(limit);
  }
}

template <typename Number>
void Reader::ReadNumbered(const toml::node& node, const std::string& name, Of of, std::map<Number, Limits>* to) {
  const toml::table* tables = Table(node, name + ".0");
  if (tables == nullptr) return;
  for (const auto& [key, entry] : *tables) {
    const std::string text(key.str()), full = absl::StrCat(name, ".", Printable(text));
    int32_t number = -1;
    if (!absl::SimpleAtoi(text, &number) || number < 0 || absl::StrCat(number) != text) {
      Mistake(entry, absl::StrCat(full, ": invalid number '", Printable(text), "' of a ", name, " (example: 0)"));
      continue;
    }
    if (const toml::table* table = Table(entry, full))
      ReadLimits(*table, full, of, &(*to)[static_cast<Number>(number)]);
  }
}

void Reader::ReadText(const std::string& key, const toml::node& node, std::string* text) {
  if (const auto* value = node.as_string(); value != nullptr && !value->get().empty()) {
    *text = value->get();
  } else {
    Mistake(node, key + ": expected a string that is not empty");
  }
}

void Reader::ReadException(const toml::table& table, CheckException* exception) {
  exception->place = PlaceOf(table);
  bool has_expiry = false;
  for (const auto& [toml_key, node] : table) {
    const std::string key(toml_key.str());
    if (key == "site") {
      ReadText(key, node, &exception->site);
    } else if (key == "function") {
      ReadText(key, node, &exception->function);
    } else if (key == "file") {
      ReadText(key, node, &exception->file);
    } else if (key == "reason") {
      ReadText(key, node, &exception->reason);
    } else if (key == "rule") {
      std::string rule;
      if (node.is_string()) ReadText(key, node, &rule);
      if (FindRule(rule) == nullptr) {
        Mistake(node, UnknownChoice("rule", rule, RuleNames()));
      } else {
        exception->rules.push_back(rule);
      }
    } else if (key == "device") {
      const auto* number = node.as_integer();
      if (number == nullptr || number->get() < 0 || number->get() > UINT16_MAX) {
        Mistake(node, "device: expected the number of a device, such as 0");
      } else {
        exception->device = static_cast<uint32_t>(number->get());
      }
    } else if (key == "up_to") {
      exception->up_to = ReadLimit(key, node, LimitUnit::kBytesPerStep);
    } else if (key == "expires") {
      has_expiry = true;
      if (const auto* date = node.as_date()) {
        exception->expires = absl::CivilDay(date->get().year, date->get().month, date->get().day);
      } else if (const auto* text = node.as_string(); text == nullptr || text->get() != "never") {
        Mistake(node, "expires: expected a date such as 2026-12-31 (without quotation marks) or \"never\"");
      }
    } else {
      NoSuchKey(toml_key, "[[exception]]",
                {"site", "function", "file", "rule", "device", "up_to", "reason", "expires"});
    }
  }
  if (table.get("reason") == nullptr) Mistake(table, "[[exception]]: reason is missing");
  if (!has_expiry)
    Mistake(table, "[[exception]]: expires is missing (examples: expires = 2026-12-31, expires = \"never\")");
  bool is_for_something = false;
  for (const char* key : {"site", "function", "file", "rule"}) is_for_something |= table.get(key) != nullptr;
  if (!is_for_something) {
    Mistake(table, "[[exception]]: one of site, function, file and rule is needed");
  }
}

Budgets Reader::Read(const toml::table& file) {
  Budgets budgets;
  for (const auto& [key, node] : file) {
    if (key.str() == "budget") {
      if (const toml::table* table = Table(node, "budget")) ReadLimits(*table, "budget", Of::kJob, &budgets.job);
    } else if (key.str() == "device") {
      ReadNumbered(node, "device", Of::kDevice, &budgets.devices);
    } else if (key.str() == "rank") {
      ReadNumbered(node, "rank", Of::kRank, &budgets.ranks);
    } else if (key.str() == "exception") {
      const toml::array* list = node.as_array();
      if (list == nullptr || !list->is_array_of_tables()) {
        Mistake(node, "exception: not a list of tables (write [[exception]])");
        continue;
      }
      for (const toml::node& one : *list) ReadException(*one.as_table(), &budgets.exceptions.emplace_back());
    } else {
      NoSuchKey(key, "the file", {"[budget]", "[device.N]", "[rank.N]", "[[exception]]"});
    }
  }
  return budgets;
}

}  // namespace

absl::StatusOr<Budgets> ParseBudgets(std::string_view text, const std::string& path) {
  if (const int line = LineOfTooManyDots(text)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ":", line, ": more than ", kMostDotsOfLine,
                                                   " dots in one line (keys are nested too deeply)"));
  }
  const toml::parse_result file = toml::parse(text, path);
  if (!file) {
    const toml::parse_error& error = file.error();
    return absl::InvalidArgumentError(
        absl::StrCat(path, ":", error.source().begin.line, ": ", Printable(std::string(error.description()))));
  }
  Reader reader(path);
  Budgets budgets = reader.Read(file.table());
  if (absl::Status status = reader.status(); !status.ok()) return status;
  return budgets;
}

}  // namespace vramtrack
