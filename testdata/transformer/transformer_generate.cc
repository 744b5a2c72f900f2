// SPDX-License-Identifier: Apache-2.0
#include "testdata/transformer/check.h"
#include "testdata/transformer/generator.h"
#include "testdata/transformer/run_program.h"

int main(int argc, char** argv) {
  return transformer::RunProgram<transformer::Generator>(transformer::Program::kGenerate, transformer::CheckInference,
                                                         argc, argv);
}
