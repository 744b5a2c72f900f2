// SPDX-License-Identifier: Apache-2.0
//
// A Fourier transform of every batch, with a plan made on the spot. The leaky one counts on the plan going away by
// itself.
#include "tests/corpus/programs/cpp/run.h"
#include "tests/simcuda/libraries/cufft.h"

namespace {

constexpr int kPoints = 1 << 18;

class Spectrum {
 public:
  Spectrum(int points, bool keep) : keep_(keep) {
    CORPUS_CHECK(cufftPlan1d(&plan_, points, vramtrack::simcuda::kCufftC2C, 1));  // LEAK plan
  }
  ~Spectrum() {
    if (!keep_) cufftDestroy(plan_);
  }

 private:
  cufftHandle plan_ = 0;
  bool keep_;
};

void Transform(const corpus::Batch& batch, bool leaky) {
  Spectrum spectrum(kPoints, leaky);
  CORPUS_CHECK(cudaMemcpy(batch.output(), batch.input(), 4096, cudaMemcpyDeviceToDevice));
}

}  // namespace

int main(int argc, char** argv) {
  const corpus::Run run = corpus::ReadArguments(argc, argv);
  for (int step = 0; step < run.steps; ++step) {
    corpus::Batch batch(1 << 20);
    Transform(batch, run.leaky);
    corpus::EndOfStep(step);
  }
  if (run.leaky) corpus::ExpectLeak("plan", 8.0 * kPoints, 2);
}
