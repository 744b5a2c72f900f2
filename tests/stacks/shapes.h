// SPDX-License-Identifier: Apache-2.0
//
// Functions whose frames are found in every way that a compiler has. Each calls Next, which picks another one at
// random.
#ifndef TESTS_STACKS_SHAPES_H_
#define TESTS_STACKS_SHAPES_H_

namespace vramtrack {

using Shape = void (*)(int depth);

// The same functions, compiled with and without frame pointers.
extern const Shape kShapesWithFramePointer[];
extern const Shape kShapesWithoutFramePointer[];
extern const int kShapeCount;

// For the shapes, from the test.
void Next(int depth);
unsigned Random();
extern volatile long sink;

}  // namespace vramtrack

#endif  // TESTS_STACKS_SHAPES_H_
