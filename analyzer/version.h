// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_VERSION_H_
#define ANALYZER_VERSION_H_

namespace vramtrack {

constexpr char kToolVersion[] = "0.1.0";

}  // namespace vramtrack

#endif  // ANALYZER_VERSION_H_
