// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_HOLDER_MOMENTS_H_
#define ANALYZER_CLI_HOLDER_MOMENTS_H_

#include <string>

namespace vramtrack {

// Turns a value of --holders, such as "growth,5m", into the one of VRAMTRACK_HOLDERS ("growth,300s"). Returns an error
// message, empty if the value is valid.
std::string ReadHolderMoments(std::string& text);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_HOLDER_MOMENTS_H_
