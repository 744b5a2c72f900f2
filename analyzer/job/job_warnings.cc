// SPDX-License-Identifier: Apache-2.0
#include "analyzer/job/job_warnings.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace vramtrack {
namespace {

constexpr size_t kProcessesTold = 4;

// The text without its figures.
std::string FormOf(const std::string& warning) {
  std::string form;
  for (const char c : warning) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) {
      form += c;
    } else if (form.empty() || form.back() != '#') {
      form += '#';
    }
  }
  return form;
}

}  // namespace

void JobWarnings::Add(const JobProcess& process, std::vector<std::string> warnings) {
  for (size_t i = 0; i < warnings.size(); ++i) {
    Alike& alike = by_form_[FormOf(warnings[i])];
    alike.different.insert(std::hash<std::string>()(warnings[i]));
    alike.of_first[&process].push_back({i, std::move(warnings[i])});
    if (alike.of_first.size() > kProcessesTold) alike.of_first.erase(std::prev(alike.of_first.end()));
  }
}

std::vector<std::string> JobWarnings::Finish() const {
  std::vector<const Alike*> order;
  for (const auto& [form, alike] : by_form_) order.push_back(&alike);
  std::stable_sort(order.begin(), order.end(), [](const Alike* a, const Alike* b) {
    const auto &first = *a->of_first.begin(), &other = *b->of_first.begin();
    if (IsBefore(*first.first, *other.first)) return true;
    if (IsBefore(*other.first, *first.first)) return false;
    return first.second[0].index < other.second[0].index;
  });
  std::vector<std::string> lines;
  for (const Alike* alike : order) {
    std::set<std::string> told;
    for (const auto& [process, of_process] : alike->of_first) {
      for (const Line& line : of_process) {
        if (told.insert(line.text).second) lines.push_back(line.text);
      }
    }
    if (alike->different.size() > told.size()) {
      lines.push_back(
          absl::StrCat("and ", alike->different.size() - told.size(), " more like the last one, of other processes"));
    }
  }
  return lines;
}

}  // namespace vramtrack
