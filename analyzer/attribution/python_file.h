// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_ATTRIBUTION_PYTHON_FILE_H_
#define ANALYZER_ATTRIBUTION_PYTHON_FILE_H_

#include <string_view>

#include "analyzer/model/report.h"

namespace vramtrack {

// Returns whether a Python file belongs to the standard library or to PyTorch, or was generated at run time.
// Other installed packages do not count, because a line in a model's package says more than that of the calling script.
bool IsPythonLibrary(std::string_view path);

// Returns the installed package of a Python file, "transformers", or its module, "six.py"; empty if there is none.
std::string_view PythonPackage(std::string_view path);

// Returns whether a Python file is not the user's own: it belongs to an installed package, or is code that was
// downloaded to be run, such as that of a model of the Hugging Face hub.
bool IsInstalledPython(std::string_view path);

// Returns whether `frame` only starts `called`: a script that an installer wrote for a command (`bin/torchrun`), or the
// code with which the standard library starts a process of a pool.
bool IsStarter(const ReportFrame& frame, const ReportFrame& called);

// Returns the last part of a qualified name: "step" for "Trainer.step" and "make.<locals>.step".
std::string_view UnqualifiedName(std::string_view function);

// Returns the path of a Python file as reports show it: relative to `working_directory`, or for an installed package
// from the package on. The result points into `path`.
std::string_view ShownPythonFile(std::string_view path, std::string_view working_directory);

// Returns whether a Python function is an optimizer's step, or a wrapper of PyTorch or another framework around it.
// `function`: the last part of its name.
bool IsOptimizerFrame(std::string_view file, std::string_view function);

// Returns whether a file belongs to the implementation of an optimizer, and not to the caller of step().
bool IsOptimizerFile(std::string_view file);

}  // namespace vramtrack

#endif  // ANALYZER_ATTRIBUTION_PYTHON_FILE_H_
