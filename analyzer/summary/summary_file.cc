// SPDX-License-Identifier: Apache-2.0
#include "analyzer/summary/summary_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"

namespace vramtrack {

bool IsSummaryFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char beginning[2] = {};
  file.read(beginning, sizeof(beginning));
  return file.gcount() == sizeof(beginning) && IsSummary({beginning, sizeof(beginning)});
}

absl::StatusOr<Summary> ReadSummaryFile(const std::string& path, std::string* damage) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat(path, ": ", std::strerror(errno)));
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) return absl::UnavailableError(absl::StrCat(path, ": cannot be read"));
  if (!IsSummary(bytes)) return absl::InvalidArgumentError(absl::StrCat(path, ": no summary that vramtrack wrote"));
  return Summary::Read(bytes, path, damage);
}

}  // namespace vramtrack
