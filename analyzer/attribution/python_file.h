// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_ATTRIBUTION_PYTHON_FILE_H_
#define ANALYZER_ATTRIBUTION_PYTHON_FILE_H_

#include <string_view>

#include "analyzer/model/report.h"

namespace vramtrack {

// Whether a Python file belongs to the standard library or to PyTorch itself, or was made by it at run time. Other
// installed packages do not: a line in a model's package says more than that of the script which called it.
bool IsPythonLibrary(std::string_view path);

// The installed package that a Python file belongs to, "transformers", or the module, "six.py"; empty: none.
std::string_view PythonPackage(std::string_view path);

// Whether a Python file is of an installed package, or of code that was downloaded to be run, such as a model's of the
// Hugging Face hub: not the user's own.
bool IsInstalledPython(std::string_view path);

// Whether `frame` only starts `called`: a script that an installer wrote for a command (`bin/torchrun`), or what the
// standard library runs to start a process of a pool.
bool IsStarter(const ReportFrame& frame, const ReportFrame& called);

// "step" of "Trainer.step" and of "make.<locals>.step".
std::string_view UnqualifiedName(std::string_view function);

// A Python file's path as it is shown: without `working_directory`, and of an installed package from the package on.
std::string_view ShownPythonFile(std::string_view path, std::string_view working_directory);

// Whether a Python function is an optimizer's step, or what PyTorch wraps around it. `function`: the last part of its
// name.
bool IsOptimizerFrame(std::string_view file, std::string_view function);

// Whether a file belongs to the optimizers themselves and not to the caller of step().
bool IsOptimizerFile(std::string_view file);

}  // namespace vramtrack

#endif  // ANALYZER_ATTRIBUTION_PYTHON_FILE_H_
