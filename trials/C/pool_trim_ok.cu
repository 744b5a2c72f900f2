// Embedding service on a private memory pool: replies are parked until clients acknowledge, then reclaimed and the pool trimmed.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <random>
#include <stdexcept>
#include <vector>

#define CK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) throw std::runtime_error(cudaGetErrorString(e_)); } while (0)

__global__ void encode(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * 0.5f;
}

class Pool {
 public:
  Pool() {
    cudaMemPoolProps p{};
    p.allocType = cudaMemAllocationTypePinned;
    p.location.type = cudaMemLocationTypeDevice;
    p.location.id = 0;
    CK(cudaMemPoolCreate(&pool_, &p));
    unsigned long long keep = 64ull << 20;
    CK(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep));
    CK(cudaStreamCreate(&s_));
  }
  ~Pool() { cudaStreamSynchronize(s_); cudaStreamDestroy(s_); cudaMemPoolDestroy(pool_); }
  float* take(size_t n) { void* p; CK(cudaMallocFromPoolAsync(&p, n * sizeof(float), pool_, s_)); return static_cast<float*>(p); }
  void give(float* p) { cudaFreeAsync(p, s_); }
  void trim(size_t to) { CK(cudaStreamSynchronize(s_)); CK(cudaMemPoolTrimTo(pool_, to)); }
  cudaStream_t stream() const { return s_; }
 private:
  cudaMemPool_t pool_;
  cudaStream_t s_;
};

class Guard {
 public:
  explicit Guard(std::function<void()> f) : f_(std::move(f)) {}
  ~Guard() { if (f_) f_(); }
  void dismiss() { f_ = nullptr; }
 private:
  std::function<void()> f_;
};

class Service {
 public:
  void on_request(int id, int tokens) {
    float* in = pool_.take(size_t(tokens) * 128);
    Guard g1([&] { pool_.give(in); });
    float* out = pool_.take(size_t(tokens) * 32);
    Guard g2([&] { pool_.give(out); });
    if (tokens > 440) throw std::length_error("too long");
    encode<<<tokens, 32, 0, pool_.stream()>>>(in, out, tokens * 32);
    g2.dismiss();
    parked_.push_back({id, out});
  }
  void on_ack() {                           // clients acknowledge in bulk
    for (auto& r : parked_) pool_.give(r.data);
    parked_.clear();
    pool_.trim(1 << 20);
  }
  ~Service() { on_ack(); }
  size_t parked() const { return parked_.size(); }
 private:
  struct Reply { int id; float* data; };
  Pool pool_;
  std::vector<Reply> parked_;
};

struct Event { enum Kind { kRequest, kAck, kLog } kind; int arg; };

int main(int argc, char** argv) {
  int total = argc > 1 ? std::atoi(argv[1]) : 120, id = 0, refused = 0;
  Service svc;
  std::mt19937 rng(55);
  std::deque<Event> loop{{Event::kRequest, 64}};
  while (!loop.empty()) {                   // event loop
    Event e = loop.front();
    loop.pop_front();
    if (e.kind == Event::kRequest) {
      try { svc.on_request(id, e.arg); } catch (const std::length_error&) { ++refused; }
      ++id;
      if (id % 10 == 0) loop.push_back({Event::kLog, id});
      if (id % 16 == 0) loop.push_back({Event::kAck, 0});
      if (id < total) loop.push_back({Event::kRequest, 64 + int(rng() % 420)});
    } else if (e.kind == Event::kAck) {
      svc.on_ack();
    } else {
      size_t f, t;
      CK(cudaMemGetInfo(&f, &t));
      std::printf("request %d parked %zu refused %d used %zu KiB\n", e.arg, svc.parked(), refused, (t - f) >> 10);
    }
  }
}
