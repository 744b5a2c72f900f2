// SPDX-License-Identifier: Apache-2.0
#include "analyzer/summary/summary_file.h"

#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "analyzer/base/input_file.h"

namespace vramtrack {
namespace {

// That of a fleet of a million processes is a tenth of it.
constexpr uint64_t kMostBytes = uint64_t{16} << 30;

}  // namespace

bool IsSummaryFile(const std::string& path) {
  const absl::StatusOr<InputFile> file = InputFile::Open(path);
  char beginning[2] = {};
  return file.ok() && read(file->fd(), beginning, sizeof beginning) == sizeof beginning &&
         IsSummary({beginning, sizeof beginning});
}

absl::StatusOr<Summary> ReadSummaryFile(const std::string& path, std::string* damage) {
  const absl::StatusOr<std::string> bytes = ReadInputFile(path, kMostBytes);
  if (!bytes.ok()) return bytes.status();
  if (!IsSummary(*bytes)) return absl::InvalidArgumentError(absl::StrCat(path, ": no summary that vramtrack wrote"));
  return Summary::Read(*bytes, path, damage);
}

}  // namespace vramtrack
