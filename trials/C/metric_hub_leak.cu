// Two-tower recommender training; towers publish activation probes to a metric hub that flushes after every minibatch.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#define CK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { \
  std::fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); std::exit(2); } } while (0)

template <typename T> __global__ void relu(T* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] < T(0)) x[i] = T(0);
}

template <typename T> using Probe = std::shared_ptr<T>;

template <typename T>
Probe<T> make_probe(size_t n) {
  T* p = nullptr;
  CK(cudaMalloc(&p, n * sizeof(T)));  // SITE main
  return Probe<T>(p, [](T* q) { cudaFree(q); });
}

class MetricHub {
 public:
  using Observer = std::function<void(int step)>;
  void on_flush(Observer o) { observers_.push_back(std::move(o)); }  // SITE
  void flush(int step) { for (auto& o : observers_) o(step); }
  size_t size() const { return observers_.size(); }
 private:
  std::vector<Observer> observers_;
};

class Tower {
 public:
  explicit Tower(MetricHub& hub, size_t params) : hub_(hub) { CK(cudaMalloc(&w_, params * sizeof(float))); }
  virtual ~Tower() { cudaFree(w_); }
  virtual void forward(int step, int batch, cudaStream_t s) = 0;
 protected:
  template <typename T> void publish(int step, Probe<T> act, size_t n, cudaStream_t s) {
    hub_.on_flush([=, this_step = step](int now) {
      if (now != this_step) return;
      T head;
      CK(cudaMemcpyAsync(&head, act.get() + n - 1, sizeof(T), cudaMemcpyDeviceToHost, s));
      CK(cudaStreamSynchronize(s));
    });
  }
  MetricHub& hub_;
  float* w_ = nullptr;
};

struct DenseTower : Tower {
  explicit DenseTower(MetricHub& h) : Tower(h, 1 << 16) {}
  void forward(int step, int batch, cudaStream_t s) override {
    float* hidden;
    CK(cudaMallocAsync(&hidden, batch * 256 * sizeof(float), s));
    relu<<<batch, 256, 0, s>>>(hidden, batch * 256);
    auto act = make_probe<float>(4096);  // SITE
    CK(cudaMemcpyAsync(act.get(), hidden, 4096, cudaMemcpyDeviceToDevice, s));
    publish(step, act, 4096, s);
    CK(cudaFreeAsync(hidden, s));
  }
};

struct SparseTower : Tower {
  explicit SparseTower(MetricHub& h) : Tower(h, 1 << 18) {}
  void forward(int step, int batch, cudaStream_t s) override {
    int* ids;
    CK(cudaMallocAsync(&ids, batch * 32 * sizeof(int), s));
    relu<<<batch, 32, 0, s>>>(ids, batch * 32);
    auto hist = make_probe<int>(1024);  // SITE
    CK(cudaMemcpyAsync(hist.get(), ids, 1024, cudaMemcpyDeviceToDevice, s));
    publish(step, hist, 1024, s);
    CK(cudaFreeAsync(ids, s));
  }
};

int main(int argc, char** argv) {
  int steps = argc > 1 ? std::atoi(argv[1]) : 120;
  cudaStream_t s;
  CK(cudaStreamCreate(&s));
  MetricHub hub;
  DenseTower dense(hub);
  SparseTower sparse(hub);
  std::mt19937 rng(9);
  int step = 0;
  for (int epoch = 0; step < steps; ++epoch) {
    for (int b = 0; b < 30 && step < steps; ++b, ++step) {
      int batch = 32 + int(rng() % 96);
      Tower& t = step % 2 ? static_cast<Tower&>(sparse) : dense;   // alternating optimisation
      t.forward(step, batch, s);
      hub.flush(step);
      if ((step + 1) % 10 == 0) {
        size_t f, tot;
        CK(cudaMemGetInfo(&f, &tot));
        std::printf("epoch %d step %d batch %d observers %zu used %zu KiB\n", epoch, step + 1, batch, hub.size(), (tot - f) >> 10);
      }
    }
  }
  CK(cudaStreamDestroy(s));
}
