// SPDX-License-Identifier: Apache-2.0
//
// The options of one command. Parsing, --help and error messages come from the same list.
#ifndef ANALYZER_CLI_COMMAND_PARSER_H_
#define ANALYZER_CLI_COMMAND_PARSER_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/cli/commands.h"

namespace vramtrack {

// Return validators. Their errors read "invalid number '0' (expected 1 to 9)" and "unknown format 'xml' (expected a or
// b)".
CLI::Validator WholeNumber(uint64_t low, uint64_t high);
CLI::Validator Number(double low, double high);
CLI::Validator OneOf(const std::string& noun, const std::vector<std::string>& choices);

// Parses the arguments of one command and prints its help. Thread-compatible.
class CommandParser {
 public:
  // `usage` is the text after "Usage: vramtrack ", which begins with the command's name. `summary` is one or two
  // sentences in the imperative.
  CommandParser(const std::string& usage, const std::string& summary);

  // Adds an option that is stored in `*to`. `names` is, for example, "-o,--output"; `value` is the name
  // of its value in --help, such as "DIR".
  template <typename T>
  CLI::Option* Option(const std::string& names, const std::string& value, T* to, const std::string& text) {
    help_.push_back({names, value, text});
    return app_.add_option(names, *to);
  }
  // Adds an option that may be given several times.
  CLI::Option* List(const std::string& names, const std::string& value, std::vector<std::string>* to,
                    const std::string& text);
  CLI::Option* Flag(const std::string& names, bool* to, const std::string& text);
  // Adds an option whose value may be left out, which then is `without`. A value must follow the name and "=".
  CLI::Option* OptionalValue(const std::string& name, const std::string& value, const std::string& without,
                             std::string* to, const std::string& text);
  // Adds an option that calls `set` with its value.
  CLI::Option* Call(const std::string& names, const std::string& value, std::function<void(const std::string&)> set,
                    const std::string& text);
  template <typename T>
  CLI::Option* Positional(const std::string& name, T* to) {
    return app_.add_option(name, *to)->required();
  }
  // `*to` keeps its value if the argument is left out.
  template <typename T>
  void OptionalPositional(const std::string& name, T* to) {
    app_.add_option(name, *to);
  }
  // Leaves the option that was added last out of --help: few need it. `vramtrack help --all COMMAND` has it.
  void Rare() { help_.back().rare = true; }
  // Stops parsing at the first argument that is neither an option nor its value. Rest() returns it and all arguments
  // after it.
  void StopAtFirstWord() { app_.prefix_command(); }
  // Sets the last paragraph of --help, which by default says the exit codes of most commands.
  void Ending(const std::string& text) { ending_ = text; }

  // Returns nullopt if the command can continue. Otherwise returns the exit code, and has printed the help, the version
  // or one error line.
  std::optional<int> Parse(Arguments arguments);
  Arguments Rest() const { return app_.remaining(); }
  // Prints that `option` is unknown. Returns the exit code.
  int UnknownOption(const std::string& option) const;
  // Prints `problem` and a reference to the help. Returns the exit code.
  int Wrong(const std::string& problem) const;
  // Returns the names of all options: "--output", "-o".
  std::vector<std::string> Names() const;
  // `all`: with the rare options.
  std::string Help(bool all) const;

 private:
  struct Entry {
    std::string names, value, text;
    bool rare = false;
  };
  int UnexpectedArgument() const;
  int MissingArgument() const;
  int WrongNumberOfValues(const std::string& last_argument) const;

  const std::string command_, usage_, summary_;
  CLI::App app_;
  std::vector<Entry> help_;
  std::string ending_ = "Exit code: 0 success, 2 bad input or usage.";
};

// Prints `text` on standard output. Returns an exit code.
int Print(const std::string& text);
int PrintVersion();

}  // namespace vramtrack

#endif  // ANALYZER_CLI_COMMAND_PARSER_H_
