// SPDX-License-Identifier: Apache-2.0
//
// What grows for a while, or looks so, and is no leak: `lookalikes NAME STEPS`.
#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>

#include "tests/corpus/programs/cpp/run.h"
#include "tests/simcuda/libraries/cublas.h"
#include "tests/simcuda/libraries/cufft.h"
#include "tests/simcuda/libraries/nccl.h"

namespace {

using corpus::Batch;
using corpus::EndOfStep;
using corpus::ExpectVerdict;

// Plans by size, the most recently used ones; sizes are as unequal as words are.
void PlanCache(int steps) {
  constexpr size_t kMostPlans = 16;
  std::list<std::pair<int, cufftHandle>> plans;
  std::mt19937 random(5);
  for (int step = 0; step < steps; ++step) {
    const int size = 1 << std::min(14, static_cast<int>(1 / std::sqrt((random() % 4096 + 1) / 4096.0)) + 4);
    auto found = std::find_if(plans.begin(), plans.end(), [size](const auto& plan) { return plan.first == size; });
    if (found == plans.end()) {
      cufftHandle plan = 0;
      CORPUS_CHECK(cufftPlan1d(&plan, size, vramtrack::simcuda::kCufftC2C, 8));  // SITE plan
      plans.emplace_front(size, plan);
    } else {
      plans.splice(plans.begin(), plans, found);
    }
    if (plans.size() > kMostPlans) {
      cufftDestroy(plans.back().second);
      plans.pop_back();
    }
    Batch batch(1 << 16);
    EndOfStep(step);
  }
  ExpectVerdict("plan", "one_time|sublinear|steady|insufficient_evidence");
}

// The first communicator sets up what all later ones share.
void CommunicatorsInTurn(int steps) {
  void* shared = nullptr;
  for (int step = 0; step < steps; ++step) {
    Batch batch(1 << 20);
    if (shared == nullptr) CORPUS_CHECK(cudaMalloc(&shared, 50 << 20));  // SITE shared
    ncclUniqueId id;
    CORPUS_CHECK(ncclGetUniqueId(&id));
    ncclComm_t communicator = nullptr;
    CORPUS_CHECK(ncclCommInitRank(&communicator, 2, id, 0));  // SITE communicator
    CORPUS_CHECK(ncclCommDestroy(communicator));
    EndOfStep(step);
  }
  ExpectVerdict("shared", "one_time");
  ExpectVerdict("communicator", "steady");
}

// An arena adds regions twice as large as the one before, as its users keep more and more, until they have all.
void DoublingArena(int steps) {
  std::vector<void*> regions;
  size_t room = 0, used = 0;
  for (int step = 0; step < steps; ++step) {
    Batch batch(1 << 18);
    if (step < steps / 3) used += 64 << 10;
    while (used > room) {
      const size_t bytes = size_t{1} << (20 + regions.size());
      void* region = nullptr;
      CORPUS_CHECK(cudaMalloc(&region, bytes));  // SITE region
      regions.push_back(region);
      room += bytes;
    }
    EndOfStep(step);
  }
  ExpectVerdict("region", "one_time|sublinear");
}

// Eight entries, the oldest of which goes when a new one comes, in most steps.
void EntriesInTurn(int steps) {
  std::map<unsigned, void*> entries;
  std::deque<unsigned> order;
  std::mt19937 random(3);
  for (int step = 0; step < steps; ++step) {
    Batch batch(1 << 18);
    const unsigned key = random() % 40;
    if (entries.count(key) == 0) {
      CORPUS_CHECK(cudaMalloc(&entries[key], 512 << 10));  // SITE entry
      order.push_back(key);
    }
    if (order.size() > 8) {
      cudaFree(entries[order.front()]);
      entries.erase(order.front());
      order.pop_front();
    }
    EndOfStep(step);
  }
  ExpectVerdict("entry", "steady");
}

// Predictions are kept until the evaluation is over.
void Phases(int steps) {
  std::vector<void*> predictions;
  for (int step = 0; step < steps; ++step) {
    Batch batch(1 << 18);
    void* prediction = nullptr;
    CORPUS_CHECK(cudaMalloc(&prediction, 100 << 10));  // SITE prediction
    predictions.push_back(prediction);
    if (predictions.size() == 20) {
      for (void* kept : predictions) cudaFree(kept);
      predictions.clear();
    }
    EndOfStep(step);
  }
  ExpectVerdict("prediction", "phase_accumulation");
}

// Four threads that live as long as the program, each with a handle.
class Workers {
 public:
  Workers() {
    for (int index = 0; index < 4; ++index) threads_.emplace_back([this] { Work(); });
  }
  ~Workers() {
    {
      std::lock_guard<std::mutex> hold(mutex_);
      ended_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  void RunAndWait(const std::function<void(cublasHandle_t)>& task) {
    std::unique_lock<std::mutex> hold(mutex_);
    for (size_t index = 0; index < threads_.size(); ++index) tasks_.push_back(task);
    left_ = threads_.size();
    wake_.notify_all();
    done_.wait(hold, [this] { return left_ == 0; });
  }

 private:
  void Work() {
    cublasHandle_t handle = nullptr;
    std::unique_lock<std::mutex> hold(mutex_);
    for (;;) {
      wake_.wait(hold, [this] { return ended_ || !tasks_.empty(); });
      if (tasks_.empty()) break;
      const std::function<void(cublasHandle_t)> task = tasks_.front();
      tasks_.pop_front();
      hold.unlock();
      if (handle == nullptr) CORPUS_CHECK(cublasCreate_v2(&handle));  // SITE handle
      task(handle);
      hold.lock();
      if (--left_ == 0) done_.notify_all();
    }
    cublasDestroy_v2(handle);
  }

  std::vector<std::thread> threads_;
  std::deque<std::function<void(cublasHandle_t)>> tasks_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  size_t left_ = 0;
  bool ended_ = false;
};

void HandlesOfWorkers(int steps) {
  Workers workers;
  for (int step = 0; step < steps; ++step) {
    workers.RunAndWait([](cublasHandle_t) { Batch batch(1 << 18); });
    EndOfStep(step);
  }
  ExpectVerdict("handle", "one_time");
}

// Ever longer sequences: what is needed grows, what stays does not.
void Curriculum(int steps) {
  for (int step = 0; step < steps; ++step) {
    Batch batch(static_cast<size_t>(64 + step) << 10);  // SITE batch
    Batch gradients(1 << 16);
    EndOfStep(step);
  }
  ExpectVerdict("batch", "steady");
}

// A workspace as large as the largest request so far.
void LargestSoFar(int steps) {
  void* workspace = nullptr;
  size_t room = 0;
  std::mt19937 random(11);
  for (int step = 0; step < steps; ++step) {
    const size_t bytes = static_cast<size_t>(random() % 60000 + 1) << 8;
    if (bytes > room) {
      cudaFree(workspace);
      CORPUS_CHECK(cudaMalloc(&workspace, bytes));  // SITE workspace
      room = bytes;
    }
    Batch batch(1 << 18);
    EndOfStep(step);
  }
  ExpectVerdict("workspace", "one_time|sublinear|steady");
}

// Batches are made six steps before they are used.
void Prefetch(int steps) {
  std::deque<void*> queue;
  for (int step = 0; step < steps; ++step) {
    void* batch = nullptr;
    CORPUS_CHECK(cudaMalloc(&batch, 700 << 10));  // SITE batch
    queue.push_back(batch);
    if (queue.size() > 6) {
      Batch activations(1 << 18);
      cudaFree(queue.front());
      queue.pop_front();
    }
    EndOfStep(step);
  }
  ExpectVerdict("batch", "steady");
}

// Buffers that a stream may still use are given back when it has caught up, every ten steps or so.
void GivenBackLater(int steps) {
  std::vector<void*> waiting;
  std::mt19937 random(2);
  for (int step = 0; step < steps; ++step) {
    Batch batch(1 << 18);
    void* sent = nullptr;
    CORPUS_CHECK(cudaMalloc(&sent, 300 << 10));  // SITE sent
    waiting.push_back(sent);
    if (random() % 10 == 0) {
      CORPUS_CHECK(cudaDeviceSynchronize());
      for (void* done : waiting) cudaFree(done);
      waiting.clear();
    }
    EndOfStep(step);
  }
  ExpectVerdict("sent", "cycle_garbage|phase_accumulation|steady");
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, void (*)(int)> lookalikes = {{"plan_cache", PlanCache},
                                                           {"communicators", CommunicatorsInTurn},
                                                           {"doubling_arena", DoublingArena},
                                                           {"entries_in_turn", EntriesInTurn},
                                                           {"phases", Phases},
                                                           {"workers", HandlesOfWorkers},
                                                           {"curriculum", Curriculum},
                                                           {"largest_so_far", LargestSoFar},
                                                           {"prefetch", Prefetch},
                                                           {"given_back_later", GivenBackLater}};
  const auto found = argc == 3 ? lookalikes.find(argv[1]) : lookalikes.end();
  if (found == lookalikes.end()) {
    std::fprintf(stderr, "usage: %s NAME STEPS\n", argv[0]);
    return 2;
  }
  found->second(std::atoi(argv[2]));
}
