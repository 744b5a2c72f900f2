// SPDX-License-Identifier: Apache-2.0
//
// A group of ranks is made for every evaluation. The leaky one never destroys its communicator.
#include "tests/corpus/programs/cpp/run.h"
#include "tests/simcuda/libraries/nccl.h"

namespace {

class Group {
 public:
  Group(ncclUniqueId id, bool leaky) : leaky_(leaky) {
    CORPUS_CHECK(ncclCommInitRank(&communicator_, 2, id, 0));  // LEAK communicator
  }
  ~Group() {
    if (!leaky_) ncclCommDestroy(communicator_);
  }

 private:
  ncclComm_t communicator_ = nullptr;
  bool leaky_;
};

}  // namespace

int main(int argc, char** argv) {
  const corpus::Run run = corpus::ReadArguments(argc, argv);
  for (int step = 0; step < run.steps; ++step) {
    for (int batch = 0; batch < 3; ++batch) corpus::Batch predictions(1 << 20);
    ncclUniqueId id;
    CORPUS_CHECK(ncclGetUniqueId(&id));
    Group group(id, run.leaky);
    corpus::EndOfStep(step);
  }
  if (run.leaky)
    corpus::ExpectLeak("communicator", vramtrack::simcuda::kNcclWorkspaceBytes + vramtrack::simcuda::kNcclPinnedBytes,
                       0);
}
