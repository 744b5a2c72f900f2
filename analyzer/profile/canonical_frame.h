// SPDX-License-Identifier: Apache-2.0
//
// What of a frame stays the same when lines move, a compiler clones, a library gets another version or a checkout lies
// elsewhere. docs/diff.md has the rules in words.
#ifndef ANALYZER_PROFILE_CANONICAL_FRAME_H_
#define ANALYZER_PROFILE_CANONICAL_FRAME_H_

#include <string>
#include <string_view>

#include "analyzer/ingest/definitions.h"
#include "analyzer/model/report.h"

namespace vramtrack {

struct CanonicalFrame {
  std::string place;       // the module, or the Python file from its package or repository on
  std::string name;        // the function; empty: not known
  std::string exact_name;  // with its template arguments; empty where they are not known to be any
  bool inlined = false;    // into the next frame's function
  bool own = false;        // the job's own code, no library's
};

// Where a process's own code lies.
struct CodeRoots {
  std::string executable, working_directory;
  std::string script_directory;  // of the Python program; empty: none
};

CodeRoots RootsOf(const TracedProcess& process);

CanonicalFrame Canonical(const ReportFrame& frame, const CodeRoots& roots);

enum class TemplateArguments { kDrop, kKeep };

// "void at::(anonymous namespace)::fill<float>(at::Tensor&) [clone .cold]" is "at::fill<...>"; the numbers of lambdas
// and of unnamed types are left out.
std::string CanonicalFunction(std::string_view demangled, TemplateArguments arguments = TemplateArguments::kDrop);

// "libcudart-d0da41ae.so.12" is "libcudart.so", "_C.cpython-311-x86_64-linux-gnu.so" is "_C.so".
std::string CanonicalModule(std::string_view path);

// From site-packages on, from the standard library's folder on, or else from that of the program or of the job.
std::string CanonicalPythonFile(std::string_view path, const CodeRoots& roots);

}  // namespace vramtrack

#endif  // ANALYZER_PROFILE_CANONICAL_FRAME_H_
