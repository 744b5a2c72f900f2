// SPDX-License-Identifier: Apache-2.0
//
// Exit codes, messages on stderr, and the destinations of a command's output.
#ifndef ANALYZER_CLI_OUTPUT_H_
#define ANALYZER_CLI_OUTPUT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "analyzer/ingest/trace_choice.h"

namespace vramtrack {

// Buffered standard output. If the reader closes it early (`head`), that is not an error; a full disk is.
// Thread-compatible.
class StandardOutput {
 public:
  // Makes the process ignore SIGPIPE from now on.
  StandardOutput();

  // Returns false if the reader closed the stream or after an error: stop writing then.
  bool Write(std::string_view text);
  // Writes the rest of the buffer. Returns an exit code: kExitBadInput, with one line on stderr, if not everything
  // could be written.
  int Finish();

 private:
  bool Flush();

  std::string buffer_;
  int error_ = 0;  // errno of the first write that failed
};

// Writes a file atomically: a temporary file in the same folder replaces it at the end. An existing file that is not
// regular (a pipe, /dev/null) is written to directly. Thread-compatible.
class OutputFile {
 public:
  enum class Links {
    // The user named the file: the target of a link is replaced. Fails if another user created the link in a folder
    // that everyone can write to (sticky, like /tmp).
    kFollow,
    kReplace,  // the user named only the folder
  };

  explicit OutputFile(std::string path, Links links = Links::kFollow);
  // Removes the temporary file if Finish() was not called.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Returns false after an error, which Finish() reports: stop writing then.
  bool Write(std::string_view bytes);
  // Returns an exit code: kExitBadInput, with one line on stderr, if not everything could be written.
  int Finish();

 private:
  int Open(Links links);  // returns 0 or errno
  void Forget();
  bool Flush();

  const std::string path_;
  std::string target_, temporary_;  // temporary_ is empty if the file is written in place
  std::string buffer_;
  int fd_ = -1, error_ = 0;
  int unfinished_ = -1;  // the index with which RemoveUnfinishedOutput finds temporary_
};

// Removes the temporary files of all unfinished outputs. Async-signal-safe.
void RemoveUnfinishedOutput();

// The destination that an option --output names: a file, or standard output if it is empty or "-". Thread-compatible.
class OutputStream {
 public:
  explicit OutputStream(const std::string& output, OutputFile::Links links = OutputFile::Links::kFollow);

  // See StandardOutput and OutputFile.
  bool Write(std::string_view bytes);
  int Finish();

 private:
  std::optional<OutputFile> file_;
  std::optional<StandardOutput> standard_;
};

// Returns whether an option --output names a file: "" and "-" mean standard output.
bool IsFile(const std::string& output);

// Returns OK unless `output` is the same file as one of `inputs`, even under another name, because writing would
// destroy that input. The error is one line that names it. An input may be a folder, which means all files in it.
absl::Status CheckOutput(const std::string& output, const std::vector<std::string>& inputs);

// Writes `text` to the destination that an option --output names. Returns an exit code as Finish() does.
int WriteOutput(const std::string& output, std::string_view text);

// Writes "vramtrack: LINE" to stderr immediately. Unprintable characters of `line`, including new lines, are escaped.
void Say(std::string_view line);

// Writes `line` to stderr and returns kExitBadInput.
int BadInput(std::string_view line);

constexpr int kExitFine = 0;
constexpr int kExitFinding = 1;   // a finding that the caller asked to fail on
constexpr int kExitBadInput = 2;  // invalid input or wrong usage
constexpr int kExitNotEnoughEvidence = 3;

// Exit codes of `run`, the same as in shells.
constexpr int kExitCannotExecute = 126;
constexpr int kExitNotFound = 127;

// Calls ChooseTraces for a command and reports the runs that it leaves out on stderr. For several paths, returns all
// traces, each once. Expands a pattern that the shell did not expand.
absl::StatusOr<TraceChoice> ChooseAndSay(const std::vector<std::string>& paths, bool all_runs);
absl::StatusOr<TraceChoice> ChooseAndSay(const std::string& path, bool all_runs);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_OUTPUT_H_
