// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_TEXT_CATEGORY_TEXT_H_
#define ANALYZER_RENDER_TEXT_CATEGORY_TEXT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace vramtrack {

// "optimizer state", "unknown use".
std::string CategoryText(const std::string& name);

// "4.20 GiB activations, 1.10 GiB optimizer state, 12 MiB other": what is less than a hundredth of all, or was not
// looked at, goes together at the end. `categories`: name and bytes.
std::string CategoriesText(const std::vector<std::pair<std::string, uint64_t>>& categories);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_TEXT_CATEGORY_TEXT_H_
