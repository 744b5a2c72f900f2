// SPDX-License-Identifier: Apache-2.0
#include "tests/corpus/jobs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <vector>

namespace vramtrack::corpus {
namespace {

class Chance {
 public:
  explicit Chance(uint64_t seed) : random_(seed) {}
  void Reseed(uint64_t seed) { random_.seed(seed); }
  double Uniform(double low = 0, double high = 1) { return std::uniform_real_distribution<double>(low, high)(random_); }
  int Between(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  double Normal(double deviation) { return deviation * std::normal_distribution<double>(0, 1)(random_); }
  uint64_t Bytes(double low, double high) {
    return static_cast<uint64_t>(std::exp(Uniform(std::log(low), std::log(high))));
  }

 private:
  std::mt19937_64 random_;
};

constexpr uint64_t kBlasWorkspace = 8519680;  // of cuBLAS, kept from its first call on

// What a job does besides its regular work, now and then: something is computed for a log, a sample is drawn, a buffer
// is made and kept. The objects of most of these sites live for a few steps.
class Occasions {
 public:
  Occasions(JobStream* stream, schema::Kind kind, Look look, Chance* chance) : stream_(*stream), chance_(*chance) {
    for (int i = chance->Between(0, 4); i > 0; --i) {
      Occasion one;
      one.site = stream->AddSite(kind, look, 0, 200);
      one.probability = chance->Uniform(.03, .5);
      one.bytes = chance->Bytes(512, 4e6);
      one.lifetime = chance->Between(0, 5);
      occasions_.push_back(one);
    }
    for (int i = chance->Between(0, 3); i > 0; --i) {
      kept_[chance->Between(0, 400)] = stream->AddSite(kind, look, 0, 201);
    }
  }

  void Step(int step) {
    for (const Object& object : ending_[step]) stream_.Free(object);
    ending_.erase(step);
    for (const Occasion& one : occasions_) {
      if (chance_.Uniform() >= one.probability) continue;
      const Object object = stream_.Allocate(one.site, one.bytes);
      const int death = step + chance_.Between(0, one.lifetime);
      if (death == step) {
        stream_.Free(object);
      } else {
        ending_[death].push_back(object);
      }
    }
    const auto kept = kept_.find(step);
    if (kept != kept_.end()) stream_.Allocate(kept->second, 4 * kMiB);
  }

 private:
  struct Occasion {
    uint32_t site = 0;
    double probability = 0;
    uint64_t bytes = 0;
    int lifetime = 0;  // at most, in steps
  };

  JobStream& stream_;
  Chance& chance_;
  std::vector<Occasion> occasions_;
  std::map<int, uint32_t> kept_;               // by step
  std::map<int, std::vector<Object>> ending_;  // by step
};

// A site of the work and the bytes of its objects at the usual length of a batch.
struct Work {
  uint32_t site = 0;
  uint64_t bytes = 0;
};

class TrainingJob : public Job {
 public:
  TrainingJob(const JobShape& shape, JobStream* stream, FlowPlayer* player, int steps, uint64_t seed)
      : shape_(shape), stream_(*stream), player_(*player), steps_(steps), chance_(seed) {
    if (shape_.length_spread < 0) shape_.length_spread = chance_.Uniform() < .3 ? .3 : 0;
    if (shape_.accumulation < 0) shape_.accumulation = chance_.Uniform() < .15 ? 2 << chance_.Between(0, 1) : 1;
    if (shape_.evaluation_every < 0) shape_.evaluation_every = chance_.Uniform() < .25 ? chance_.Between(10, 40) : 0;
    layers_.resize(static_cast<size_t>(chance_.Between(3, 12)));
    gradients_.resize(layers_.size());
    // A loop over layers is one line of the job; layers written out are one each.
    const bool one_line = chance_.Uniform() < .3;
    const int saved = chance_.Between(2, 4), temporaries = chance_.Between(1, 3), backward = chance_.Between(1, 3);
    AddSites(&batch_, 2, Look::kForward, 0, 64 * kKiB, 4 * kMiB);
    for (size_t i = 0; i < layers_.size(); ++i) {
      Layer& layer = layers_[i];
      if (i > 0 && one_line) {
        layer = layers_[0];
        continue;
      }
      const auto scope = static_cast<uint32_t>(1 + i);
      AddSites(&layer.parameters, 2, Look::kForward, scope, 4 * kKiB, 16 * kMiB);
      AddSites(&layer.saved, saved, Look::kForward, scope, 64 * kKiB, 16 * kMiB);
      AddSites(&layer.temporaries, temporaries, Look::kForward, scope, 64 * kKiB, 8 * kMiB);
      AddSites(&layer.backward, backward, Look::kBackward, scope, 64 * kKiB, 8 * kMiB);
      AddSites(&layer.state, 2, Look::kOptimizer, scope, 4 * kKiB, 4 * kMiB);
      AddSites(&layer.update, 1, Look::kOptimizer, scope, 4 * kKiB, 4 * kMiB);
    }
    // The engine accumulates gradients in one place, whatever they are of.
    AddSites(&gradient_, 1, Look::kAccumulate, 0, kKiB, kKiB);
    AddSites(&loss_, 1, Look::kForward, 0, 4, 4);
    AddSites(&workspace_, 1, Look::kForward, 1, kBlasWorkspace, kBlasWorkspace);
    occasions_.emplace(stream, schema::FRAMEWORK_BLOCK, Look::kForward, &chance_);
    for (const Layer& layer : layers_) {
      for (const Work& work : layer.parameters) stream_.Allocate(work.site, work.bytes);
    }
  }

  int micro_steps() const override { return shape_.accumulation; }

  void Reseed(uint64_t seed) override { chance_.Reseed(seed); }

  void Step(int step) override {
    stream_.BeginStep();
    player_.Reach(Place::kStart, step);
    for (std::vector<Object>& gradients : gradients_) ReleaseAll(&gradients, Role::kGradient, step, 0);
    for (int micro = 0; micro < shape_.accumulation; ++micro) {
      const double length = Length(step);
      LoadBatch(length, step);
      Forward(length, true, step);
      const Object loss = stream_.Allocate(loss_[0].site, loss_[0].bytes);
      if (micro == 0) player_.Reach(Place::kForward, step);
      Backward(length, step);
      Release(loss, Role::kLoss, step, 0);
      if (micro == 0) player_.Reach(Place::kBackward, step);
      stream_.Pass(chance_.Bytes(2e6, 6e6));
    }
    stream_.MarkOptimizer();
    Optimize(step);
    if (shape_.evaluation_every > 0 && (step + 1) % shape_.evaluation_every == 0) {
      for (int batch = 0; batch < 4; ++batch) Forward(1, false, step);
    }
    occasions_->Step(step);
    player_.Reach(Place::kEnd, step);
    stream_.EndStep();
  }

 private:
  struct Layer {
    std::vector<Work> parameters, saved, temporaries, backward, state, update;
    std::vector<Object> alive;  // what the backward pass will need
  };

  void AddSites(std::vector<Work>* to, int count, Look look, uint32_t scope, double low, double high) {
    const uint32_t thread = look == Look::kBackward || look == Look::kAccumulate ? 1 : 0;
    for (int i = 0; i < count; ++i) {
      to->push_back({stream_.AddSite(schema::FRAMEWORK_BLOCK, look, thread, scope), chance_.Bytes(low, high)});
    }
  }

  double Length(int step) {
    double length = shape_.length_spread > 0 ? std::exp(chance_.Normal(shape_.length_spread)) : 1;
    if (shape_.curriculum) length *= 1 + 7 * std::min(1., step / (.7 * steps_));
    if (length > longest_) {
      longest_ = length;
      player_.NoteRecord();
    }
    return length;
  }

  Object Allocate(const Work& work, double length) {
    return stream_.Allocate(work.site, static_cast<uint64_t>(static_cast<double>(work.bytes) * length));
  }
  void Release(const Object& object, Role role, int step, uint32_t thread) {
    if (!player_.Takes(object, role, step)) stream_.Free(object, thread);
  }
  void ReleaseAll(std::vector<Object>* objects, Role role, int step, uint32_t thread) {
    for (; !objects->empty(); objects->pop_back()) Release(objects->back(), role, step, thread);
  }

  // The old batch is freed once the name it was bound to has the new one.
  void LoadBatch(double length, int step) {
    std::vector<Object> loaded;
    for (const Work& work : batch_) loaded.push_back(Allocate(work, length));
    ReleaseAll(&loaded_, Role::kBatch, step, 0);
    loaded_ = std::move(loaded);
  }

  void Forward(double length, bool keep, int step) {
    for (Layer& layer : layers_) {
      for (const Work& work : layer.temporaries) {
        const Object temporary = Allocate(work, length);
        if (step == 0 && !has_workspace_) {
          stream_.Allocate(workspace_[0].site, workspace_[0].bytes);
          has_workspace_ = true;
        }
        for (size_t i = 0; i < layer.saved.size() && &work == &layer.temporaries[0]; ++i) {
          layer.alive.push_back(Allocate(layer.saved[i], length));
        }
        Release(temporary, Role::kTemporary, step, 0);
      }
      if (!keep) ReleaseAll(&layer.alive, Role::kTemporary, step, 0);
      stream_.Pass(20000);
    }
  }

  void Backward(double length, int step) {
    if (shape_.second_backward_larger) {
      if (step == 1) stream_.Allocate(workspace_[0].site, 4 * kBlasWorkspace);
    }
    for (size_t i = layers_.size(); i > 0; --i) {
      Layer& layer = layers_[i - 1];
      for (const Work& work : layer.backward) {
        const Object temporary = Allocate(work, length);
        if (!layer.alive.empty()) {
          Release(layer.alive.back(), Role::kSaved, step, 1);
          layer.alive.pop_back();
        }
        Release(temporary, Role::kTemporary, step, 1);
      }
      ReleaseAll(&layer.alive, Role::kSaved, step, 1);
      if (!gradients_[i - 1].empty()) continue;  // added to, from the second pass on
      for (const Work& work : layer.parameters) {
        gradients_[i - 1].push_back(stream_.Allocate(gradient_[0].site, work.bytes));
      }
    }
  }

  void Optimize(int step) {
    for (const Layer& layer : layers_) {
      if (step == 0) {
        for (const Work& work : layer.state) stream_.Allocate(work.site, work.bytes);
      }
      for (const Work& work : layer.update) {
        Release(stream_.Allocate(work.site, work.bytes), Role::kTemporary, step, 0);
      }
    }
  }

  JobShape shape_;
  JobStream& stream_;
  FlowPlayer& player_;
  const int steps_;
  Chance chance_;
  std::vector<Layer> layers_;
  std::vector<Work> batch_, gradient_, loss_, workspace_;
  std::vector<Object> loaded_;
  std::vector<std::vector<Object>> gradients_;  // by layer
  std::optional<Occasions> occasions_;
  double longest_ = 0;
  bool has_workspace_ = false;
};

// Requests to a native program: buffers of its own, some for each request, some staged through pinned memory.
class ServiceJob : public Job {
 public:
  ServiceJob(const JobShape& shape, JobStream* stream, FlowPlayer* player, uint64_t seed)
      : stream_(*stream), player_(*player), chance_(seed) {
    Add(&kept_, chance_.Between(4, 12), schema::DEVICE, 64 * kKiB, 64 * kMiB);
    Add(&handles_, 3, schema::STREAM, 0, 0);
    Add(&handles_, 1, schema::BLAS_HANDLE, 0, 0);
    // Some programs keep nearly all their buffers, so that little goes on beside the case.
    const bool thin = chance_.Uniform() < .3;
    Add(&working_, thin ? chance_.Between(1, 3) : chance_.Between(6, 30), schema::DEVICE, 4 * kKiB, 32 * kMiB);
    if (!thin) {
      Add(&working_, 2, schema::PINNED, 64 * kKiB, 4 * kMiB);
      Add(&working_, 2, schema::EVENT, 0, 0);
      occasions_.emplace(stream, schema::DEVICE, Look::kNative, &chance_);
    }
    for (const Work& work : kept_) stream_.Allocate(work.site, work.bytes);
    for (const Work& work : handles_) stream_.Allocate(work.site, 0);
    varied_ = shape.length_spread < 0 ? chance_.Uniform() < .5 : shape.length_spread > 0;
  }

  void Reseed(uint64_t seed) override { chance_.Reseed(seed); }

  void Step(int step) override {
    stream_.BeginStep();
    player_.Reach(Place::kStart, step);
    // Half of the buffers live through the request, half only while they are worked on.
    std::vector<Object> alive;
    const double length = varied_ ? chance_.Uniform(.3, 3) : 1;
    for (size_t i = 0; i < working_.size(); ++i) {
      const auto bytes = static_cast<uint64_t>(static_cast<double>(working_[i].bytes) * length);
      const Object object = stream_.Allocate(working_[i].site, bytes);
      if (i % 2 == 0) {
        alive.push_back(object);
      } else {
        Release(object, step);
      }
      if (i == working_.size() / 2) player_.Reach(Place::kForward, step);
    }
    player_.Reach(Place::kBackward, step);
    for (; !alive.empty(); alive.pop_back()) Release(alive.back(), step);
    if (occasions_) occasions_->Step(step);
    stream_.Pass(chance_.Bytes(1e6, 1e7));
    player_.Reach(Place::kEnd, step);
    stream_.EndStep();
  }

 private:
  void Add(std::vector<Work>* to, int count, schema::Kind kind, double low, double high) {
    for (int i = 0; i < count; ++i) {
      to->push_back({stream_.AddSite(kind, Look::kNative, 0, 0), high > 0 ? chance_.Bytes(low, high) : 0});
    }
  }
  void Release(const Object& object, int step) {
    if (!player_.Takes(object, Role::kTemporary, step)) stream_.Free(object);
  }

  JobStream& stream_;
  FlowPlayer& player_;
  Chance chance_;
  std::vector<Work> kept_, handles_, working_;
  std::optional<Occasions> occasions_;
  bool varied_ = false;
};

}  // namespace

std::unique_ptr<Job> MakeJob(const JobShape& shape, JobStream* stream, FlowPlayer* player, int steps, uint64_t seed) {
  if (!shape.training) return std::make_unique<ServiceJob>(shape, stream, player, seed);
  return std::make_unique<TrainingJob>(shape, stream, player, steps, seed);
}

}  // namespace vramtrack::corpus
