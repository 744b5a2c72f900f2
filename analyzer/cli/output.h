// SPDX-License-Identifier: Apache-2.0
//
// Exit codes, lines on stderr, and where the output of a command goes.
#ifndef ANALYZER_CLI_OUTPUT_H_
#define ANALYZER_CLI_OUTPUT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "analyzer/ingest/trace_choice.h"

namespace vramtrack {

// Standard output, buffered. A reader that closes it early (`head`) is no error; a full disk is.
// Thread-compatible.
class StandardOutput {
 public:
  // From here on the process ignores SIGPIPE.
  StandardOutput();

  // False if the reader closed the stream or on an error: stop writing.
  bool Write(std::string_view text);
  // Writes what is left. An exit code: kExitBadInput, with one line on stderr, if not all could be written.
  int Finish();

 private:
  bool Flush();

  std::string buffer_;
  int error_ = 0;  // errno of the first write that failed
};

// A file that is there whole or not at all: a temporary file beside it takes its place in the end. What is there and is
// no regular file (a pipe, /dev/null) is written to directly. Thread-compatible.
class OutputFile {
 public:
  enum class Links {
    kFollow,   // the user named it: what it points to is replaced, unless somebody else put it where everybody can
    kReplace,  // the user named the folder
  };

  explicit OutputFile(std::string path, Links links = Links::kFollow);
  // Removes what is not finished.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // False: an error, which Finish tells; stop.
  bool Write(std::string_view bytes);
  // An exit code: kExitBadInput, with one line on stderr, if not all could be written.
  int Finish();

 private:
  int Open(Links links);  // 0, or errno
  void Forget();
  bool Flush();

  const std::string path_;
  std::string target_, temporary_;  // the latter empty: written in place
  std::string buffer_;
  int fd_ = -1, error_ = 0;
  int unfinished_ = -1;  // where RemoveUnfinishedOutput finds temporary_
};

// Removes the temporary files of all that is not finished. Async-signal-safe.
void RemoveUnfinishedOutput();

// What an option --output names: a file, or standard output where it is empty or "-". Thread-compatible.
class OutputStream {
 public:
  explicit OutputStream(const std::string& output, OutputFile::Links links = OutputFile::Links::kFollow);

  // As those of the above.
  bool Write(std::string_view bytes);
  int Finish();

 private:
  std::optional<OutputFile> file_;
  std::optional<StandardOutput> standard_;
};

// Whether an option --output names a file: it is not empty and not "-", which is standard output.
bool IsFile(const std::string& output);

// OK unless `output` is one of `inputs`, by whatever name: writing it would destroy that. The error is one line that
// names it. An input may be a folder, which stands for all files in it.
absl::Status CheckOutput(const std::string& output, const std::vector<std::string>& inputs);

// Writes `text` to where an option --output says. An exit code, as of the above.
int WriteOutput(const std::string& output, std::string_view text);

// Writes "vramtrack: LINE" to stderr at once. Characters of `line` that are not text, new lines too, are made visible.
void Say(std::string_view line);

// Writes `line` to stderr and returns kExitBadInput.
int BadInput(std::string_view line);

constexpr int kExitFine = 0;
constexpr int kExitFinding = 1;   // that the caller asked to fail on
constexpr int kExitBadInput = 2;  // or wrong usage
constexpr int kExitNotEnoughEvidence = 3;

// For `run`, the same as in shells.
constexpr int kExitCannotExecute = 126;
constexpr int kExitNotFound = 127;

// ChooseTraces for a command; reports the runs that it leaves out on stderr. Of several paths, all traces, each once. A
// pattern that the shell did not expand is expanded.
absl::StatusOr<TraceChoice> ChooseAndSay(const std::vector<std::string>& paths, bool all_runs);
absl::StatusOr<TraceChoice> ChooseAndSay(const std::string& path, bool all_runs);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_OUTPUT_H_
