// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/command_parser.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "analyzer/base/choices.h"
#include "analyzer/base/display_text.h"
#include "analyzer/cli/output.h"
#include "proto/tool_version.h"

namespace vramtrack {
namespace {

constexpr int kHelpColumns = 100;
constexpr int kWidestNames = 26;  // a longer option has its text on the next line

std::string NameAndValue(const std::string& names, const std::string& value) {
  const std::string name = absl::StrCat(names[1] == '-' ? "    " : "", absl::StrJoin(absl::StrSplit(names, ','), ", "));
  return value.empty() ? name : absl::StrCat(name, value[0] == '[' ? "" : " ", value);
}

void AppendWrapped(const std::string& text, int columns, std::string* to) {
  for (const std::string& line : Wrap(text, columns)) absl::StrAppend(to, line, "\n");
}

}  // namespace

CLI::Validator WholeNumber(uint64_t low, uint64_t high) {
  return CLI::Validator(
      [low, high](std::string& text) -> std::string {
        uint64_t number = 0;
        const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
        if (digits && absl::SimpleAtoi(text, &number) && number >= low && number <= high) return "";
        return absl::StrCat("invalid number '", text, "' (expected ", low, " to ", high, ")");
      },
      "");
}

CLI::Validator Number(double low, double high) {
  return CLI::Validator(
      [low, high](std::string& text) -> std::string {
        double number = 0;
        if (absl::SimpleAtod(text, &number) && number >= low && number <= high) return "";
        return absl::StrCat("invalid number '", text, "' (expected ", low, " to ", high, ")");
      },
      "");
}

CLI::Validator OneOf(const std::string& noun, const std::vector<std::string>& choices) {
  return CLI::Validator(
      [noun, choices](std::string& text) -> std::string {
        if (std::find(choices.begin(), choices.end(), text) != choices.end()) return "";
        return UnknownChoice(noun, text, choices);
      },
      "");
}

CommandParser::CommandParser(const std::string& usage, const std::string& summary)
    : command_(usage.substr(0, usage.find(' '))), usage_(usage), summary_(summary), app_("", "vramtrack " + command_) {
  app_.set_help_flag("-h,--help");
  app_.set_help_all_flag("--help-all");
  app_.set_version_flag("--version", kToolVersion);
}

CLI::Option* CommandParser::List(const std::string& names, const std::string& value, std::vector<std::string>* to,
                                 const std::string& text) {
  return Option(names, value, to, text)->allow_extra_args(false);
}

CLI::Option* CommandParser::Flag(const std::string& names, bool* to, const std::string& text) {
  help_.push_back({names, "", text});
  return app_.add_flag(names, *to);
}

CLI::Option* CommandParser::OptionalValue(const std::string& name, const std::string& value, const std::string& without,
                                          std::string* to, const std::string& text) {
  help_.push_back({name, absl::StrCat("[=", value, "]"), text});
  return app_.add_flag(absl::StrCat(name, "{", without, "}"), *to);
}

CLI::Option* CommandParser::Call(const std::string& names, const std::string& value,
                                 std::function<void(const std::string&)> set, const std::string& text) {
  help_.push_back({names, value, text});
  return app_.add_option_function<std::string>(names, std::move(set));
}

std::vector<std::string> CommandParser::Names() const {
  std::vector<std::string> names = {"--help", "-h", "--version"};
  for (const Entry& entry : help_) {
    for (const auto name : absl::StrSplit(entry.names, ',')) names.emplace_back(name);
  }
  return names;
}

int CommandParser::Wrong(const std::string& problem) const {
  return BadInput(absl::StrCat(problem, "; see vramtrack ", command_, " --help"));
}

int CommandParser::UnknownOption(const std::string& option) const {
  const std::string name = option.substr(0, option.find('='));
  const std::string meant = NearMiss(name, Names());
  if (!meant.empty()) return BadInput(absl::StrCat("unknown option ", name, "; did you mean ", meant, "?"));
  return Wrong("unknown option " + name);
}

// For what the parser did not expect. An option comes first: its value is then taken for an argument.
int CommandParser::UnexpectedArgument() const {
  const std::vector<std::string> rest = app_.remaining();
  for (const std::string& argument : rest) {
    if (argument.size() > 1 && argument[0] == '-' && argument != "--") return UnknownOption(argument);
  }
  return Wrong(absl::StrCat("unexpected argument '", rest.empty() ? "" : rest[0], "'"));
}

int CommandParser::MissingArgument() const {
  if (!app_.remaining().empty()) return UnexpectedArgument();
  const std::vector<const CLI::Option*> missing =
      app_.get_options([](const CLI::Option* option) { return option->get_required() && option->empty(); });
  return Wrong((missing.empty() ? "an argument" : missing[0]->get_name()) + " is missing");
}

int CommandParser::WrongNumberOfValues(const std::string& last_argument) const {
  const std::vector<const CLI::Option*> repeated = app_.get_options([](const CLI::Option* option) {
    return static_cast<int>(option->count()) > std::max(option->get_items_expected_max(), 1);
  });
  if (!repeated.empty()) return Wrong(repeated[0]->get_name() + " is given more than once");
  // Only the last argument can be without a value: any other takes the next one.
  const CLI::Option* const last = app_.get_option_no_throw(last_argument);
  return Wrong((last == nullptr ? last_argument : last->get_name()) + " needs a value");
}

std::optional<int> CommandParser::Parse(Arguments arguments) {
  const std::string last = arguments.empty() ? "" : arguments.back();
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    app_.parse(std::move(arguments));
    return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    return Print(Help(false));
  } catch (const CLI::CallForAllHelp&) {
    return Print(Help(true));
  } catch (const CLI::CallForVersion&) {
    return PrintVersion();
  } catch (const CLI::ExtrasError&) {
    return UnexpectedArgument();
  } catch (const CLI::RequiredError&) {
    return MissingArgument();
  } catch (const CLI::ArgumentMismatch&) {
    return WrongNumberOfValues(last);
  } catch (const CLI::ParseError& error) {
    return BadInput(error.what());
  }
}

std::string CommandParser::Help(bool all) const {
  std::vector<Entry> entries;
  for (const Entry& entry : help_) {
    if (all || !entry.rare) entries.push_back(entry);
  }
  const bool more = entries.size() < help_.size();
  entries.push_back({"-h,--help", "", "print this help"});
  entries.push_back({"--version", "", "print the version"});
  size_t width = 0;
  for (const Entry& entry : entries) {
    const size_t one = NameAndValue(entry.names, entry.value).size();
    if (one <= kWidestNames) width = std::max(width, one);
  }
  std::string help = absl::StrCat("Usage: vramtrack ", usage_, "\n");
  AppendWrapped(summary_, kHelpColumns, &help);
  help += "\n";
  const std::string indent(width + 4, ' ');
  for (const Entry& entry : entries) {
    const std::string name = NameAndValue(entry.names, entry.value);
    std::string line = absl::StrCat("  ", PadRight(name, static_cast<int>(width)), "  ");
    if (name.size() > width) line = absl::StrCat("  ", name, "\n", indent);
    bool first = true;
    for (const std::string& text : Wrap(entry.text, kHelpColumns - static_cast<int>(indent.size()))) {
      absl::StrAppend(&help, std::exchange(first, false) ? line : indent, text, "\n");
    }
  }
  help += "\n";
  if (more) AppendWrapped(absl::StrCat("More options: vramtrack help --all ", command_), kHelpColumns, &help);
  for (const auto paragraph : absl::StrSplit(ending_, '\n')) AppendWrapped(std::string(paragraph), kHelpColumns, &help);
  return help;
}

int Print(const std::string& text) {
  OutputStream out;
  out.Write(text);
  return out.Finish();
}

int PrintVersion() { return Print(absl::StrCat("vramtrack ", kToolVersion, "\n")); }

}  // namespace vramtrack
