// SPDX-License-Identifier: Apache-2.0
#ifndef PROTO_TOOL_VERSION_H_
#define PROTO_TOOL_VERSION_H_

namespace vramtrack {

// The version of the recorder and of the analyzer, which are released together.
constexpr char kToolVersion[] = "0.1.0";

}  // namespace vramtrack

#endif  // PROTO_TOOL_VERSION_H_
