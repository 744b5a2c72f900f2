// SPDX-License-Identifier: Apache-2.0
#include "testdata/transformer/options.h"

#include <getopt.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <sstream>

namespace transformer {
namespace {

enum Flag : int {
  kSteps = 256,
  kLayers,
  kDim,
  kHeads,
  kVocab,
  kBatch,
  kSeq,
  kSeed,
  kDevice,
  kStepDelay,
  kLeak,
  kControl,
  kLeakEvery,
  kLeakOnset,
  kNoStepMarks,
  kTeardown,
  kCheck,
  kVerbose,
  kHelp,
};

constexpr struct option kFlags[] = {
    {"steps", required_argument, nullptr, kSteps},
    {"layers", required_argument, nullptr, kLayers},
    {"dim", required_argument, nullptr, kDim},
    {"heads", required_argument, nullptr, kHeads},
    {"vocab", required_argument, nullptr, kVocab},
    {"batch", required_argument, nullptr, kBatch},
    {"seq", required_argument, nullptr, kSeq},
    {"seed", required_argument, nullptr, kSeed},
    {"device", required_argument, nullptr, kDevice},
    {"step-delay-us", required_argument, nullptr, kStepDelay},
    {"leak", required_argument, nullptr, kLeak},
    {"control", required_argument, nullptr, kControl},
    {"leak-every", required_argument, nullptr, kLeakEvery},
    {"leak-onset", required_argument, nullptr, kLeakOnset},
    {"no-step-marks", no_argument, nullptr, kNoStepMarks},
    {"teardown", no_argument, nullptr, kTeardown},
    {"check", no_argument, nullptr, kCheck},
    {"verbose", no_argument, nullptr, kVerbose},
    {"help", no_argument, nullptr, kHelp},
    {nullptr, 0, nullptr, 0},
};

const char* FlagName(int flag) {
  for (const struct option* o = kFlags; o->name != nullptr; ++o) {
    if (o->val == flag) return o->name;
  }
  return "?";
}

// Reads a whole decimal number between `low` and `high`.
template <typename Integer>
bool ReadNumber(int flag, const char* text, int64_t low, int64_t high, Integer* value, std::string* error) {
  errno = 0;
  char* end = nullptr;
  const long long number = std::strtoll(text, &end, 10);
  if (end == text || *end != '\0' || errno != 0 || number < low || number > high) {
    std::ostringstream message;
    message << "--" << FlagName(flag) << ": '" << text << "' is not a number from " << low << " to " << high;
    *error = message.str();
    return false;
  }
  *value = static_cast<Integer>(number);
  return true;
}

// Finds each name of a comma-separated list among `known`.
template <typename Value, typename Name>
bool ReadNames(int flag, const char* text, const std::vector<Value>& known, Name name_of, std::vector<Value>* values,
               std::string* error) {
  std::istringstream list(text);
  std::string name;
  bool any = false;
  while (std::getline(list, name, ',')) {
    const auto found = std::find_if(known.begin(), known.end(), [&](Value v) { return name == name_of(v); });
    if (found == known.end()) break;
    if (std::find(values->begin(), values->end(), *found) == values->end()) values->push_back(*found);
    name.clear();
    any = true;
  }
  if (any && name.empty()) return true;
  *error = std::string("--") + FlagName(flag) + ": '" + name + "' is none of";
  for (Value v : known) *error += std::string(" ") + name_of(v);
  return false;
}

bool ReadFlag(Program program, int flag, const char* text, Options* options, std::string* error) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  Config& config = options->config;
  switch (flag) {
    case kSteps:
      return ReadNumber(flag, text, 1, 1'000'000'000, &options->steps, error);
    case kLayers:
      return ReadNumber(flag, text, 1, 1000, &config.layers, error);
    case kDim:
      return ReadNumber(flag, text, 1, 65536, &config.dim, error);
    case kHeads:
      return ReadNumber(flag, text, 1, 1024, &config.heads, error);
    case kVocab:
      return ReadNumber(flag, text, 2, 1'000'000, &config.vocab, error);
    case kBatch:
      return ReadNumber(flag, text, 1, 65536, &config.batch, error);
    case kSeq:
      return ReadNumber(flag, text, 4, 65536, &config.seq, error);
    case kSeed:
      return ReadNumber(flag, text, 0, kMax, &options->seed, error);
    case kDevice:
      return ReadNumber(flag, text, 0, 1023, &options->device, error);
    case kStepDelay:
      return ReadNumber(flag, text, 0, 3'600'000'000, &options->step_delay_us, error);
    case kLeakEvery:
      return ReadNumber(flag, text, 1, 1'000'000'000, &options->leak_every, error);
    case kLeakOnset:
      return ReadNumber(flag, text, 1, 1'000'000'000, &options->leak_onset, error);
    case kLeak:
      return ReadNames(flag, text, LeaksOf(program), LeakName, &options->leaks, error);
    case kControl: {
      std::vector<Control> controls;
      if (!ReadNames(flag, text, ControlsOf(program), ControlName, &controls, error)) return false;
      options->controls.insert(controls.begin(), controls.end());
      return true;
    }
    case kNoStepMarks:
      options->step_marks = false;
      return true;
    case kTeardown:
      options->teardown = true;
      return true;
    case kCheck:
      options->check = true;
      return true;
    case kVerbose:
      options->verbose = true;
      return true;
    case kHelp:
      options->help = true;
      return true;
  }
  *error = "unhandled option";
  return false;
}

}  // namespace

const char* ControlName(Control control) {
  switch (control) {
    case Control::kVariableLength:
      return "variable-length";
    case Control::kLazyOptimizer:
      return "lazy-optimizer";
    case Control::kBoundedCache:
      return "bounded-cache";
    case Control::kFragmentation:
      return "fragmentation";
    case Control::kReusedWorkspace:
      return "reused-workspace";
  }
  return "?";
}

const char* ProgramName(Program program) {
  return program == Program::kTrain ? "transformer_train" : "transformer_generate";
}

std::vector<Leak> LeaksOf(Program program) {
  std::vector<Leak> leaks = {Leak::kAttentionCache, Leak::kBatchReferences, Leak::kWorkspace, Leak::kPinnedStaging};
  if (program == Program::kTrain) {
    leaks.insert(leaks.begin(), Leak::kLossGraph);
    leaks.push_back(Leak::kGradientBuffers);
  } else {
    leaks.insert(leaks.begin(), Leak::kKvCache);
  }
  return leaks;
}

std::vector<Control> ControlsOf(Program program) {
  std::vector<Control> controls = {Control::kVariableLength, Control::kBoundedCache, Control::kFragmentation,
                                   Control::kReusedWorkspace};
  if (program == Program::kTrain) controls.push_back(Control::kLazyOptimizer);
  return controls;
}

bool ParseOptions(Program program, int argc, char* const* argv, Options* options, std::string* error) {
  if (program == Program::kGenerate) options->config.seq = 80;
  optind = 0;  // GNU: start again, also after an earlier call
  opterr = 0;
  for (;;) {
    const int at = optind == 0 ? 1 : optind;
    const int flag = getopt_long(argc, argv, "", kFlags, nullptr);
    if (flag == -1) break;
    if (flag == '?') {
      const bool lacks_value = optopt >= kSteps && optopt < kNoStepMarks;
      *error = std::string(lacks_value ? "no value for '" : "not an option, or not one on its own: '") + argv[at] + "'";
      return false;
    }
    if (!ReadFlag(program, flag, optarg, options, error)) return false;
  }
  if (options->help) return true;
  if (optind < argc) {
    *error = std::string("takes options only, not '") + argv[optind] + "'";
    return false;
  }
  if (options->config.dim % options->config.heads != 0) {
    *error = "--dim must be a multiple of --heads";
    return false;
  }
  return true;
}

}  // namespace transformer
