// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/html/source_lines.h"

#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/input_file.h"

namespace vramtrack {
namespace {

constexpr size_t kMaxSites = 300;
constexpr size_t kMaxExcerpts = 2000;
constexpr size_t kMaxLineBytes = 400;
constexpr size_t kTabWidth = 4;

// Behind the last point of a name, in lower case.
constexpr std::string_view kSourceSuffixes[] = {"c",   "cc",  "cpp", "cxx", "c++", "cu", "cuh",  "h",   "hh",
                                                "hpp", "hxx", "inc", "inl", "ipp", "py", "pyx",  "pxd", "pxi",
                                                "rs",  "go",  "jl",  "f90", "f",   "d",  "swift"};

bool IsSourceName(const std::string& path) {
  const size_t name = path.rfind('/') + 1;  // or 0
  const size_t point = path.rfind('.');
  if (point == std::string::npos || point <= name) return false;
  const std::string suffix = absl::AsciiStrToLower(path.substr(point + 1));
  return std::find(std::begin(kSourceSuffixes), std::end(kSourceSuffixes), suffix) != std::end(kSourceSuffixes);
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t bytes = CharacterBytes(text);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

struct SourceFile {
  std::string text;
  bool changed = false;
};

// When the traces were last written, the earliest of them, and whose files they are.
struct Recording {
  Recording(const std::vector<std::string>& traces, uid_t reader) : readable({reader}) {
    for (const std::string& trace : traces) {
      struct stat info;
      if (stat(trace.c_str(), &info) != 0) continue;
      if (written == 0 || info.st_mtime < written) written = info.st_mtime;
      readable.insert(info.st_uid);
    }
  }

  bool MayShow(const struct stat& file) const {
    return readable.count(file.st_uid) != 0 || (file.st_uid == 0 && (file.st_mode & S_IROTH) != 0);
  }

  std::time_t written = 0;
  std::set<uid_t> readable;  // owners of files
};

std::optional<SourceFile> ReadSourceFile(const std::string& path, const Recording& recording) {
  if (path.find('\0') != std::string::npos || !IsSourceName(path)) return std::nullopt;
  std::error_code error;
  const std::string resolved = std::filesystem::canonical(path, error).string();
  if (error || !IsSourceName(resolved)) return std::nullopt;
  absl::StatusOr<InputFile> input = InputFile::Open(resolved);
  struct stat info;
  if (!input.ok() || fstat(input->fd(), &info) != 0 || !recording.MayShow(info)) return std::nullopt;
  absl::StatusOr<std::string> text = input->Read(kMaxSourceFileBytes);
  if (!text.ok() || !IsUtf8(*text)) return std::nullopt;
  return SourceFile{*std::move(text), recording.written != 0 && info.st_mtime > recording.written};
}

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

// With spaces for tabs, so that it looks as in an editor; other control characters are the page's to show.
std::string Shown(std::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  std::string shown;
  size_t column = 0;
  while (!line.empty() && shown.size() < kMaxLineBytes) {
    const size_t bytes = CharacterBytes(line);
    if (line[0] == '\t') {
      const size_t spaces = kTabWidth - column % kTabWidth;
      shown.append(spaces, ' ');
      column += spaces;
    } else {
      shown.append(line.substr(0, bytes));
      ++column;
    }
    line.remove_prefix(bytes);
  }
  if (!line.empty()) shown += "…";
  return shown;
}

}  // namespace

std::vector<SourceExcerpt> ReadSource(const Report& report, const std::vector<std::string>& traces, uid_t reader) {
  std::map<std::string, std::set<uint32_t>> wanted;
  size_t count = 0;
  const auto want = [&](const std::vector<ReportFrame>& frames) {
    for (const ReportFrame& frame : frames) {
      if (frame.origin != ReportFrame::Origin::kJob || frame.line == 0 || frame.file.empty()) continue;
      if (count < kMaxExcerpts && wanted[frame.file].insert(frame.line).second) ++count;
    }
  };
  for (const ReportOom& oom : report.oom) want(oom.stack);
  for (size_t i = 0; i < std::min(kMaxSites, report.sites.size()); ++i) want(report.sites[i].frames);

  const Recording recording(traces, reader);
  std::vector<SourceExcerpt> excerpts;
  for (const auto& [path, numbers] : wanted) {
    const std::optional<SourceFile> file = ReadSourceFile(path, recording);
    if (!file) continue;
    const std::vector<std::string_view> lines = LinesOf(file->text);
    for (const uint32_t number : numbers) {
      if (number > lines.size()) continue;  // it is another file by now
      SourceExcerpt& excerpt = excerpts.emplace_back();
      excerpt.file = path;
      excerpt.line = number;
      excerpt.first = number > kSourceLinesAround ? number - kSourceLinesAround : 1;
      excerpt.changed = file->changed;
      const size_t last = std::min<size_t>(lines.size(), size_t{number} + kSourceLinesAround);
      for (size_t i = excerpt.first; i <= last; ++i) excerpt.lines.push_back(Shown(lines[i - 1]));
    }
  }
  return excerpts;
}

}  // namespace vramtrack
