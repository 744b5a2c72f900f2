// Spectral filtering service: transforms of many lengths, plans kept in an LRU cache of fixed capacity.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <memory>
#include <random>
#include <unordered_map>

#define CK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { \
  std::fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); std::exit(1); } } while (0)

__global__ void butterfly(float2* x, const float2* tw, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { x[i].x += tw[i].x; x[i].y -= tw[i].y; }
}
__global__ void fill_twiddles(float2* tw, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) tw[i] = make_float2(cosf(6.2831853f * i / n), sinf(6.2831853f * i / n));
}

struct Plan {
  int n = 0;
  float2* work = nullptr;
  float2* twiddle = nullptr;
  cudaEvent_t last_use = nullptr;
};

class PlanCache {
 public:
  PlanCache(size_t cap, cudaStream_t s) : cap_(cap), stream_(s) {}
  ~PlanCache() { while (!order_.empty()) evict(); }
  Plan& get(int n, int request) {
    auto it = index_.find(n);
    if (it != index_.end()) {
      order_.splice(order_.begin(), order_, it->second);
      return order_.front();
    }
    ++misses_;
    if (order_.size() == cap_) {
      if (!evicted_++) std::printf("plan cache full at request %d\n", request);
      evict();
    }
    order_.push_front(build(n));
    index_[n] = order_.begin();
    return order_.front();
  }
  int misses() const { return misses_; }
 private:
  Plan build(int n) {
    Plan p;
    p.n = n;
    CK(cudaMalloc(&p.work, 2 * size_t(n) * sizeof(float2)));
    CK(cudaMalloc(&p.twiddle, size_t(n) * sizeof(float2)));
    CK(cudaEventCreateWithFlags(&p.last_use, cudaEventDisableTiming));
    fill_twiddles<<<(n + 255) / 256, 256, 0, stream_>>>(p.twiddle, n);
    return p;
  }
  void evict() {
    Plan& p = order_.back();
    CK(cudaEventSynchronize(p.last_use));
    CK(cudaEventDestroy(p.last_use));
    CK(cudaFree(p.work));
    CK(cudaFree(p.twiddle));
    index_.erase(p.n);
    order_.pop_back();
  }
  size_t cap_;
  cudaStream_t stream_;
  int misses_ = 0, evicted_ = 0;
  std::list<Plan> order_;
  std::unordered_map<int, std::list<Plan>::iterator> index_;
};

class Filter {
 public:
  Filter() { CK(cudaStreamCreate(&s_)); plans_ = std::make_unique<PlanCache>(10, s_); }
  ~Filter() { plans_.reset(); cudaStreamDestroy(s_); }
  void request(int id, int n) {
    Plan& p = plans_->get(n, id);
    float2* signal;
    CK(cudaMallocAsync(&signal, n * sizeof(float2), s_));
    CK(cudaMemcpyAsync(p.work, signal, n * sizeof(float2), cudaMemcpyDeviceToDevice, s_));
    butterfly<<<(n + 255) / 256, 256, 0, s_>>>(p.work, p.twiddle, n);
    CK(cudaEventRecord(p.last_use, s_));
    CK(cudaFreeAsync(signal, s_));
  }
  void report(int id) {
    CK(cudaStreamSynchronize(s_));
    size_t f, t;
    CK(cudaMemGetInfo(&f, &t));
    std::printf("request %d misses %d used %zu KiB\n", id, plans_->misses(), (t - f) >> 10);
  }
 private:
  cudaStream_t s_;
  std::unique_ptr<PlanCache> plans_;
};

int main(int argc, char** argv) {
  int total = argc > 1 ? std::atoi(argv[1]) : 120;
  Filter filter;
  std::mt19937 rng(41);
  for (int id = 1; id <= total; ++id) {
    bool hot = rng() % 2;
    int n = hot ? 1024 * (1 + int(rng() % 6)) : 256 * (1 + int(rng() % 40));
    filter.request(id, n);
    if (id % 10 == 0) filter.report(id);
  }
}
