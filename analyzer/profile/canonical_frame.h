// SPDX-License-Identifier: Apache-2.0
//
// Reduces a frame to the parts that stay the same when lines move, the compiler clones a function, a library gets
// another version or a checkout is in another directory. docs/diff.md has the rules in words.
#ifndef ANALYZER_PROFILE_CANONICAL_FRAME_H_
#define ANALYZER_PROFILE_CANONICAL_FRAME_H_

#include <string>
#include <string_view>

#include "analyzer/ingest/definitions.h"
#include "analyzer/model/report.h"

namespace vramtrack {

struct CanonicalFrame {
  std::string place;       // the module, or the path of the Python file from its package or repository on
  std::string name;        // the function; empty if unknown
  std::string exact_name;  // with its template arguments; empty unless they are known
  bool inlined = false;    // inlined into the next frame's function
  bool own = false;        // the job's own code, not a library's
};

// The directories of a process's own code.
struct CodeRoots {
  std::string executable, working_directory;
  std::string script_directory;  // of the Python program; empty if there is none
};

CodeRoots RootsOf(const TracedProcess& process);

CanonicalFrame Canonical(const ReportFrame& frame, const CodeRoots& roots);

enum class TemplateArguments { kDrop, kKeep };

// Returns the stable part of a function's name: "at::fill<...>" for "void at::(anonymous
// namespace)::fill<float>(at::Tensor&) [clone .cold]". Leaves out the numbers of lambdas and of unnamed types.
std::string CanonicalFunction(std::string_view demangled, TemplateArguments arguments = TemplateArguments::kDrop);

// Returns the stable part of a module's name: "libcudart.so" for "libcudart-d0da41ae.so.12", "_C.so" for
// "_C.cpython-311-x86_64-linux-gnu.so".
std::string CanonicalModule(std::string_view path);

// Returns the path from site-packages on, from the standard library's folder on, or else from the folder of the
// program or of the job on.
std::string CanonicalPythonFile(std::string_view path, const CodeRoots& roots);

}  // namespace vramtrack

#endif  // ANALYZER_PROFILE_CANONICAL_FRAME_H_
