// SPDX-License-Identifier: Apache-2.0
#include "testdata/transformer/options.h"

namespace transformer {
namespace {

constexpr const char* kTrainSummary =
    "Trains a small transformer on a toy language. A step is one batch: forward, backward, Adam.\n";
constexpr const char* kGenerateSummary =
    "Serves generation requests with a small transformer. A step is one request: a batch of prompts of four fifths of\n"
    "--seq, then one token after the other with a KV cache.\n";

constexpr const char* kOptions =
    "  --steps=N           steps to run (60)\n"
    "  --layers=N --dim=N --heads=N --vocab=N --batch=N --seq=N\n"
    "                      sizes of the model and of a batch\n"
    "  --seed=N            of parameters, data and controls (1)\n"
    "  --device=N          CUDA device (0)\n"
    "  --step-delay-us=N   pause after each step (0)\n"
    "  --leak=FAMILY       plants a leak; repeated or comma-separated for several\n"
    "  --leak-every=N      leak only in every Nth step (1)\n"
    "  --leak-onset=STEP   first step that leaks (1)\n"
    "  --control=KIND      behaves suspiciously without leaking; repeated or comma-separated for several\n"
    "  --no-step-marks     do not call vramtrack_step()\n"
    "  --teardown          free everything before exit, also what was leaked into containers\n"
    "  --check             compare results with a reference in double precision instead of running steps\n"
    "  --verbose           print the device and each step's loss or tokens on stderr\n"
    "  --help              print this\n";

}  // namespace

std::string HelpText(Program program) {
  std::string text = std::string("Usage: ") + ProgramName(program) + " [OPTION]...\n";
  text += program == Program::kTrain ? kTrainSummary : kGenerateSummary;
  text += "\n";
  text += kOptions;
  text += "\nFAMILY is one of";
  for (Leak leak : LeaksOf(program)) text += std::string(" ") + LeakName(leak);
  text += ".\nKIND is one of";
  for (Control control : ControlsOf(program)) text += std::string(" ") + ControlName(control);
  text += ".\n\nExit status: 0 fine, 1 a CUDA error or a failed check, 2 a wrong option, 77 no CUDA device.\n";
  return text;
}

}  // namespace transformer
