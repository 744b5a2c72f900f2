// SPDX-License-Identifier: Apache-2.0
//
// Hooks in libraries whose calls do not come to ours by themselves: all of them where this library was not preloaded
// but brought in by the driver (CUDA_INJECTION64_PATH), and those that were loaded with RTLD_DEEPBIND. Their imports
// are made to point here.
#ifndef INTERPOSE_HOOKS_ENTRY_LATE_HOOKS_H_
#define INTERPOSE_HOOKS_ENTRY_LATE_HOOKS_H_

namespace vramtrack {

// A library was or is about to be loaded with RTLD_DEEPBIND: from now on imports that have gone past the hooks are
// looked for whenever the loader's list of libraries has changed.
void ExpectDeepBinding();

// Whether the driver brought this library in. It is in nobody's scope then.
bool IsInjected();

}  // namespace vramtrack

#endif  // INTERPOSE_HOOKS_ENTRY_LATE_HOOKS_H_
