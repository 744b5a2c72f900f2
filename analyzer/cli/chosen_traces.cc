// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/chosen_traces.h"

#include "analyzer/cli/say.h"

namespace vramtrack {

absl::StatusOr<TraceChoice> ChooseAndSay(const std::string& path, bool all_runs) {
  absl::StatusOr<TraceChoice> choice = ChooseTraces(path, all_runs);
  if (choice.ok() && !choice->left_out.empty()) Say(choice->left_out);
  return choice;
}

}  // namespace vramtrack
