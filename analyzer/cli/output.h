// SPDX-License-Identifier: Apache-2.0
//
// Exit codes, messages on stderr, and the destinations of a command's output.
#ifndef ANALYZER_CLI_OUTPUT_H_
#define ANALYZER_CLI_OUTPUT_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "analyzer/ingest/trace_choice.h"

namespace vramtrack {

// The destination that an option --output names, buffered: standard output if it is empty or "-", otherwise a file.
// If the reader of standard output closes it early (`head`), that is not an error; a full disk is. A file is written
// atomically: a temporary file in the same folder replaces it at the end. An existing file that is not regular (a pipe,
// /dev/null) is written to directly. Thread-compatible.
class OutputStream {
 public:
  enum class Links {
    // The user named the file: the target of a link is replaced. Fails if another user created the link in a folder
    // that everyone can write to (sticky, like /tmp).
    kFollow,
    kReplace,  // the user named only the folder
  };

  // Standard output makes the process ignore SIGPIPE from now on.
  explicit OutputStream(const std::string& output = "", Links links = Links::kFollow);
  // Removes the temporary file if Finish() was not called.
  ~OutputStream();
  OutputStream(const OutputStream&) = delete;
  OutputStream& operator=(const OutputStream&) = delete;

  // Returns false if the reader closed the stream, or after an error, which Finish() reports: stop writing then.
  bool Write(std::string_view bytes);
  // Writes the rest of the buffer, and completes a file. Returns an exit code: kExitBadInput, with one line on stderr,
  // if not everything could be written.
  int Finish();

 private:
  int Open(Links links);  // returns 0 or errno
  void Forget();
  bool Flush();

  const std::string path_;          // empty: standard output
  std::string target_, temporary_;  // temporary_ is empty if nothing is to be renamed
  std::string buffer_;
  int fd_ = -1, error_ = 0;  // error_: errno of the first write that failed
  int unfinished_ = -1;      // the index with which RemoveUnfinishedOutput finds temporary_
};

// Removes the temporary files of all unfinished outputs. Async-signal-safe.
void RemoveUnfinishedOutput();

// Returns whether an option --output names a file: "" and "-" mean standard output.
bool IsFile(const std::string& output);

// Throws CommandFailure if `output` is the same file as one of `inputs`, even under another name, because writing would
// destroy that input. An input may be a folder, which means all files in it.
void CheckOutput(const std::string& output, const std::vector<std::string>& inputs);

// Writes `text` to the destination that an option --output names. Returns an exit code as Finish() does.
int WriteOutput(const std::string& output, std::string_view text);

// Writes "vramtrack: LINE" to stderr immediately. Unprintable characters of `line`, including new lines, are escaped.
void Say(std::string_view line);

// Writes `line` to stderr and returns kExitBadInput.
int BadInput(std::string_view line);

// Why a command cannot go on, in one line. RunCommandLine ends it like BadInput.
struct CommandFailure {
  std::string line;
};

// Throw CommandFailure with the message of a status that is not OK.
void OrFail(const absl::Status& status);
template <typename T>
T OrFail(absl::StatusOr<T> value) {
  OrFail(value.status());
  return *std::move(value);
}

constexpr int kExitFine = 0;
constexpr int kExitFinding = 1;   // a finding that the caller asked to fail on
constexpr int kExitBadInput = 2;  // invalid input or wrong usage
constexpr int kExitNotEnoughEvidence = 3;

// Exit codes of `run`, the same as in shells.
constexpr int kExitCannotExecute = 126;
constexpr int kExitNotFound = 127;

// Calls ChooseTraces for a command and reports the runs that it leaves out on stderr. For several paths, returns all
// traces, each once. Expands a pattern that the shell did not expand. Throws CommandFailure.
TraceChoice ChooseAndSay(const std::vector<std::string>& paths, bool all_runs);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_OUTPUT_H_
