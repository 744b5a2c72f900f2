// SPDX-License-Identifier: Apache-2.0
//
// A service whose requests come when they like and are of four kinds. The leaky one forgets a request's buffer when the
// client has gone away, which happens now and then.
#include <chrono>
#include <random>
#include <thread>

#include "tests/corpus/programs/cpp/run.h"

namespace {

constexpr size_t kRequestBytes = 200 << 10;

class Service {
 public:
  explicit Service(bool leaky) : leaky_(leaky) { CORPUS_CHECK(cudaMalloc(&model_, 64 << 20)); }
  ~Service() { cudaFree(model_); }

  void Handle(int kind, bool client_gone) {
    void* request = nullptr;
    CORPUS_CHECK(cudaMalloc(&request, kRequestBytes));  // LEAK request
    switch (kind) {
      case 0:
        Classify(1);
        break;
      case 1:
        Classify(8);
        break;
      case 2:
        Embed();
        break;
      default:
        Classify(3);
        Embed();
    }
    if (client_gone && leaky_) return;
    CORPUS_CHECK(cudaFree(request));
  }

 private:
  static void Classify(size_t pictures) {
    corpus::Batch batch(pictures * (150 << 10));
    void* scores = nullptr;
    CORPUS_CHECK(cudaMalloc(&scores, pictures * 4000));
    CORPUS_CHECK(cudaFree(scores));
  }
  static void Embed() {
    for (int layer = 0; layer < 3; ++layer) corpus::Batch batch(96 << 10);
  }

  bool leaky_;
  void* model_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  const corpus::Run run = corpus::ReadArguments(argc, argv);
  std::mt19937 random(7);
  Service service(run.leaky);
  int forgotten = 0;
  for (int request = 0; request < run.steps; ++request) {
    const bool client_gone = random() % 5 == 0;
    forgotten += client_gone;
    service.Handle(static_cast<int>(random() % 4), client_gone);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 4000));
    corpus::EndOfStep(request);
  }
  if (run.leaky)
    corpus::ExpectLeak("request", 1.0 * kRequestBytes * forgotten / run.steps, 1.0 * forgotten / run.steps);
}
