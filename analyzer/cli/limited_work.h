// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_LIMITED_WORK_H_
#define ANALYZER_CLI_LIMITED_WORK_H_

#include <chrono>
#include <functional>

namespace vramtrack {

// Does `work` in a thread of its own. False if it has not ended after `limit`: it goes on then, so what it uses has to
// live until the process ends. Where no thread can be started, `work` is done here.
bool EndsWithin(std::chrono::duration<double> limit, std::function<void()> work);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_LIMITED_WORK_H_
