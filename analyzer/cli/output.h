// SPDX-License-Identifier: Apache-2.0
//
// Where the text of a command goes.
#ifndef ANALYZER_CLI_OUTPUT_H_
#define ANALYZER_CLI_OUTPUT_H_

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

// Writes `text` to `path` so that the file is there whole or not at all: a temporary file beside it takes its place. An
// exit code: kExitBadInput, with one line on stderr, if that fails. What is there and is no regular file (a pipe,
// /dev/null) is written to directly.
int WriteFileAtomically(const std::string& path, std::string_view text);

// Whether an option --output names a file: it is not empty and not "-", which is standard output.
bool IsFile(const std::string& output);

// Writes `text` to where an option --output says. An exit code, as of the above.
int WriteOutput(const std::string& output, std::string_view text);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_OUTPUT_H_
