// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/optimizer_stacks.h"

#include <algorithm>
#include <string_view>

#include "analyzer/attribution/python_file.h"
#include "analyzer/base/affix.h"

namespace vramtrack {

OptimizerStacks::OptimizerStacks(const Definitions& definitions) {
  const size_t count = definitions.stacks.distinct_count();
  inside_.resize(count);
  call_.resize(count);
  in_closure_.resize(count);
  cell_.resize(count);
  for (const StackIndex i : definitions.stacks.distinct()) {
    const PythonStackRef python = definitions.stacks.Get(i).python;
    size_t outside = 0;
    for (size_t frame = 0; frame < python.count; ++frame) {
      const TracedCode& code = definitions.codes.Get(python.frames[frame].code);
      const std::string_view name = code.name;
      if (IsOptimizerFrame(code.file, UnqualifiedName(name))) inside_[i] = true;
      if (IsOptimizerFile(code.file)) {
        outside = frame + 1;
      } else if (!inside_[i] && !IsPythonLibrary(code.file)) {
        // The closure may call the optimizer again: Lightning's calls zero_grad(), which leaves a mark of its own.
        in_closure_[i] = true;
      }
      if (frame > 0 && UnqualifiedName(name) == "run_code" &&
          EndsWith(code.file, "/IPython/core/interactiveshell.py")) {
        cell_[i] = python.frames[frame - 1].code + 1;
      }
    }
    if (!inside_[i]) continue;
    uint64_t call = 1;
    for (size_t frame = outside; frame < python.count; ++frame) {
      call = (call ^ (uint64_t{python.frames[frame].code} << 32 | python.frames[frame].line)) * 0x9e3779b97f4a7c15;
      call ^= call >> 29;
    }
    call_[i] = std::max<uint64_t>(call, 1);
  }
}

}  // namespace vramtrack
