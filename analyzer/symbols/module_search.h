// SPDX-License-Identifier: Apache-2.0

#ifndef ANALYZER_SYMBOLS_MODULE_SEARCH_H_
#define ANALYZER_SYMBOLS_MODULE_SEARCH_H_

#include <string>
#include <utility>
#include <vector>

namespace vramtrack {

// Where binaries may lie now.
struct ModuleSearch {
  // Folders. In each, a binary is looked for under its recorded path (a copied file tree), under its name, and in
  // ".build-id".
  std::vector<std::string> search_paths;
  // {from, to}: a recorded path in folder `from` is looked for in folder `to` as well.
  std::vector<std::pair<std::string, std::string>> path_replacements;
  // The system's own separate debug files.
  std::string debug_root = "/usr/lib/debug";
};

}  // namespace vramtrack

#endif  // ANALYZER_SYMBOLS_MODULE_SEARCH_H_
