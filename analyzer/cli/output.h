// SPDX-License-Identifier: Apache-2.0
//
// Where the text of a command goes.
#ifndef ANALYZER_CLI_OUTPUT_H_
#define ANALYZER_CLI_OUTPUT_H_

#include <optional>
#include <string>
#include <string_view>

namespace vramtrack {

// Standard output, buffered. A reader that closes it early (`head`) is no error; a full disk is.
// Thread-compatible.
class StandardOutput {
 public:
  // From here on the process ignores SIGPIPE.
  StandardOutput();

  // False: nobody reads on, or an error; stop.
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
  explicit OutputFile(std::string path);
  // Removes what is not finished.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // False: an error, which Finish tells; stop.
  bool Write(std::string_view bytes);
  // An exit code: kExitBadInput, with one line on stderr, if not all could be written.
  int Finish();

 private:
  int Open();  // 0, or errno
  bool Flush();

  const std::string path_;
  std::string target_, temporary_;  // the latter empty: written in place
  std::string buffer_;
  int fd_ = -1, error_ = 0;
};

// What an option --output names: a file, or standard output where it is empty or "-". Thread-compatible.
class OutputStream {
 public:
  explicit OutputStream(const std::string& output);

  // As those of the above.
  bool Write(std::string_view bytes);
  int Finish();

 private:
  std::optional<OutputFile> file_;
  std::optional<StandardOutput> standard_;
};

// Whether an option --output names a file: it is not empty and not "-", which is standard output.
bool IsFile(const std::string& output);

// Writes `text` to where an option --output says. An exit code, as of the above.
int WriteOutput(const std::string& output, std::string_view text);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_OUTPUT_H_
