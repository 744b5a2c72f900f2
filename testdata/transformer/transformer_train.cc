// SPDX-License-Identifier: Apache-2.0
#include "testdata/transformer/check.h"
#include "testdata/transformer/run_program.h"
#include "testdata/transformer/trainer.h"

int main(int argc, char** argv) {
  return transformer::RunProgram<transformer::Trainer>(transformer::Program::kTrain, transformer::CheckTraining, argc,
                                                       argv);
}
