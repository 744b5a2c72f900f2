// SPDX-License-Identifier: Apache-2.0
#include "analyzer/check/limits.h"

#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "analyzer/base/choices.h"
#include "analyzer/base/display_text.h"
#include "analyzer/model/check_report.h"
#include "analyzer/toml/toml_file.h"

namespace vramtrack {
namespace {

class Reader {
 public:
  explicit Reader(const std::string& path) : mistakes_(path) {}

  Budgets Read(const toml::table& file);
  absl::Status status() const { return mistakes_.status(); }

 private:
  enum class Of { kJob, kDevice, kRank };

  // Null, and a mistake, if it is something else than a table.
  const toml::table* Table(const toml::node& node, const std::string& name);
  std::optional<Limit> ReadLimit(const std::string& name, const toml::node& node, LimitUnit unit);
  void ReadLimits(const toml::table& table, const std::string& name, Of of, Limits* limits);
  template <typename Number>
  void ReadNumbered(const toml::node& node, const std::string& name, Of of, std::map<Number, Limits>* to);
  void ReadException(const toml::table& table, CheckException* exception);

  TomlMistakes mistakes_;
};

const toml::table* Reader::Table(const toml::node& node, const std::string& name) {
  if (node.is_table()) return node.as_table();
  mistakes_.Add(node, absl::StrCat(name, ": not a table (write [", name, "])"));
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
    mistakes_.Add(node, absl::StrCat(name, ": ", std::string(limit.status().message())));
    return std::nullopt;
  }
  limit->place = mistakes_.PlaceOf(node);
  return *limit;
}

void Reader::ReadLimits(const toml::table& table, const std::string& name, Of of, Limits* limits) {
  std::vector<std::string> there_are;
  const auto may_be = [of](const LimitKind& kind) { return of != Of::kRank || kind.of_rank != nullptr; };
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
      mistakes_.AddUnknownKey(key, absl::StrCat("[", name, "]"), there_are);
      continue;
    }
    std::optional<Limit> limit = ReadLimit(known->key, node, known->unit);
    if (of == Of::kRank && limit && limit->share) {
      mistakes_.Add(node, absl::StrCat(known->key, ": a rank needs a size (a percentage is of one device)"));
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
      mistakes_.Add(entry, absl::StrCat(full, ": invalid number '", Printable(text), "' of a ", name, " (example: 0)"));
      continue;
    }
    if (const toml::table* table = Table(entry, full))
      ReadLimits(*table, full, of, &(*to)[static_cast<Number>(number)]);
  }
}

void Reader::ReadException(const toml::table& table, CheckException* exception) {
  exception->place = mistakes_.PlaceOf(table);
  const std::map<std::string, std::string*> texts = {{"site", &exception->site},
                                                     {"function", &exception->frame.function},
                                                     {"file", &exception->frame.file},
                                                     {"reason", &exception->reason}};
  bool has_expiry = false;
  for (const auto& [toml_key, node] : table) {
    const std::string key(toml_key.str());
    if (const auto text = texts.find(key); text != texts.end()) {
      mistakes_.ReadText(key, node, text->second);
    } else if (key == "rule") {
      std::string rule;
      if (node.is_string()) mistakes_.ReadText(key, node, &rule);
      if (FindRule(rule) == nullptr) {
        mistakes_.Add(node, UnknownChoice("rule", rule, RuleNames()));
      } else {
        exception->rules.push_back(rule);
      }
    } else if (key == "device") {
      const auto* number = node.as_integer();
      if (number == nullptr || number->get() < 0 || number->get() > UINT16_MAX) {
        mistakes_.Add(node, "device: expected the number of a device, such as 0");
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
        mistakes_.Add(node, "expires: expected a date such as 2026-12-31 (without quotation marks) or \"never\"");
      }
    } else {
      mistakes_.AddUnknownKey(toml_key, "[[exception]]",
                              {"site", "function", "file", "rule", "device", "up_to", "reason", "expires"});
    }
  }
  if (table.get("reason") == nullptr) mistakes_.Add(table, "[[exception]]: reason is missing");
  if (!has_expiry)
    mistakes_.Add(table, "[[exception]]: expires is missing (examples: expires = 2026-12-31, expires = \"never\")");
  bool is_for_something = false;
  for (const char* key : {"site", "function", "file", "rule"}) is_for_something |= table.get(key) != nullptr;
  if (!is_for_something) {
    mistakes_.Add(table, "[[exception]]: one of site, function, file and rule is needed");
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
        mistakes_.Add(node, "exception: not a list of tables (write [[exception]])");
        continue;
      }
      for (const toml::node& one : *list) ReadException(*one.as_table(), &budgets.exceptions.emplace_back());
    } else {
      mistakes_.AddUnknownKey(key, "the file", {"[budget]", "[device.N]", "[rank.N]", "[[exception]]"});
    }
  }
  return budgets;
}

}  // namespace

absl::StatusOr<Budgets> ParseBudgets(std::string_view text, const std::string& path) {
  const absl::StatusOr<toml::table> file = ParseToml(text, path);
  if (!file.ok()) return file.status();
  Reader reader(path);
  Budgets budgets = reader.Read(*file);
  if (absl::Status status = reader.status(); !status.ok()) return status;
  return budgets;
}

}  // namespace vramtrack
