// SPDX-License-Identifier: Apache-2.0
//
// The options of one command: parsing, --help and error lines come from the same list.
#ifndef ANALYZER_CLI_COMMAND_PARSER_H_
#define ANALYZER_CLI_COMMAND_PARSER_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace vramtrack {

// Validators. Their errors read "invalid number '0' (expected 1 to 9)" and "unknown format 'xml' (expected a or b)".
CLI::Validator WholeNumber(uint64_t low, uint64_t high);
CLI::Validator OneOf(const std::string& noun, const std::vector<std::string>& choices);

// Thread-compatible.
class CommandParser {
 public:
  // `usage`: what follows "Usage: vramtrack ". `summary`: one or two sentences in the imperative.
  CommandParser(const std::string& command, const std::string& usage, const std::string& summary);

  // `names`: "-o,--output". `value`: how --help names the value.
  template <typename T>
  CLI::Option* Option(const std::string& names, const std::string& value, T* to, const std::string& text) {
    help_.push_back({names, value, text});
    return app_.add_option(names, *to);
  }
  // An option whose value may be given several times.
  CLI::Option* List(const std::string& names, const std::string& value, std::vector<std::string>* to,
                    const std::string& text);
  CLI::Option* Flag(const std::string& names, bool* to, const std::string& text);
  // Calls `set` with the value.
  CLI::Option* Call(const std::string& names, const std::string& value, std::function<void(const std::string&)> set,
                    const std::string& text);
  template <typename T>
  void Positional(const std::string& name, T* to) {
    app_.add_option(name, *to)->required();
  }
  // Stop at the first argument that is neither an option nor its value; Rest() has it and what follows.
  void StopAtFirstWord() { app_.prefix_command(); }
  // The last paragraph of --help.
  void Ending(const std::string& text) { ending_ = text; }

  // True: go on. False: `code` is the exit code, and help, version or one error line is printed.
  bool Parse(std::vector<std::string> arguments, int* code);
  std::vector<std::string> Rest() const { return app_.remaining(); }
  // Prints that `option` is unknown. Returns the exit code.
  int UnknownOption(const std::string& option) const;
  // Prints `problem` and where to read more. Returns the exit code.
  int Wrong(const std::string& problem) const;
  // The names of all options: "--output", "-o".
  std::vector<std::string> Names() const;
  std::string Help() const;

 private:
  struct Entry {
    std::string names, value, text;
  };
  int UnexpectedArgument() const;

  const std::string command_, usage_, summary_;
  CLI::App app_;
  std::vector<Entry> help_;
  std::string ending_;
};

// Prints `text` on standard output. Returns an exit code.
int Print(const std::string& text);
int PrintVersion();

}  // namespace vramtrack

#endif  // ANALYZER_CLI_COMMAND_PARSER_H_
