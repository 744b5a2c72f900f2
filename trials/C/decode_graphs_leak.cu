// Autoregressive decode with captured graphs: one executable per launch shape, looked up before every step.
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <utility>
#include <vector>

#define CK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { \
  std::fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); std::exit(1); } } while (0)

constexpr int kHidden = 256, kMaxBatch = 8, kContext = 1024;

__global__ void attend(const float* kv, float* h, int batch, int len) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < batch * kHidden) for (int t = 0; t < len; ++t) h[i] += kv[(t * kHidden + i) % (kContext * kHidden)];
}
__global__ void mlp(float* h, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) h[i] = h[i] > 0 ? h[i] : 0;
}

struct Shape {
  int batch; int64_t len;
  bool operator<(const Shape& o) const { return std::pair(batch, len) < std::pair(o.batch, o.len); }
};

class GraphCache {
 public:
  ~GraphCache() { for (auto& [k, e] : execs_) cudaGraphExecDestroy(e); }
  template <class F> cudaGraphExec_t get(const Shape& key, cudaStream_t s, F&& record) {
    auto it = execs_.find(key);
    if (it != execs_.end()) { ++hits_; return it->second; }
    cudaGraph_t graph;
    CK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    record(s);
    CK(cudaStreamEndCapture(s, &graph));
    cudaGraphExec_t exec;
    CK(cudaGraphInstantiate(&exec, graph, 0));  // SITE main
    CK(cudaGraphDestroy(graph));
    std::printf("captured graph %zu for batch %d len %lld after %d hits\n", execs_.size() + 1, key.batch, (long long)key.len, hits_);
    execs_.emplace(key, exec);  // SITE
    return exec;
  }
  size_t size() const { return execs_.size(); }
  int hits() const { return hits_; }
 private:
  std::map<Shape, cudaGraphExec_t> execs_;
  int hits_ = 0;
};

class Decoder {
 public:
  Decoder() {
    CK(cudaStreamCreateWithFlags(&s_, cudaStreamNonBlocking));
    CK(cudaMalloc(&kv_, size_t(kContext) * kHidden * sizeof(float)));
    CK(cudaMalloc(&h_, kMaxBatch * kHidden * sizeof(float)));
    CK(cudaMallocHost(&logits_, kMaxBatch * kHidden * sizeof(float)));
  }
  ~Decoder() { cudaFree(kv_); cudaFree(h_); cudaFreeHost(logits_); cudaStreamDestroy(s_); }
  void step(int active) {
    int b = 1;
    while (b < active) b *= 2;              // pad the batch to a power of two
    Shape shape{b, position_};
    auto exec = graphs_.get(shape, s_, [&](cudaStream_t s) {
      attend<<<b, kHidden, 0, s>>>(kv_, h_, b, int(shape.len % kContext));
      mlp<<<b, kHidden, 0, s>>>(h_, b * kHidden);
      CK(cudaMemcpyAsync(logits_, h_, b * kHidden * sizeof(float), cudaMemcpyDeviceToHost, s));
    });
    CK(cudaGraphLaunch(exec, s_));
    CK(cudaStreamSynchronize(s_));
    position_ += active;
  }
  void report(int step) const {
    size_t f, t;
    CK(cudaMemGetInfo(&f, &t));
    std::printf("step %d graphs=%zu hits=%d used=%zu KiB\n", step, graphs_.size(), graphs_.hits(), (t - f) >> 10);
  }
 private:
  cudaStream_t s_;
  float *kv_ = nullptr, *h_ = nullptr, *logits_ = nullptr;
  int64_t position_ = 0;                    // tokens written so far (the kv cache itself wraps)
  GraphCache graphs_;
};

int main(int argc, char** argv) {
  int steps = argc > 1 ? std::atoi(argv[1]) : 120;
  Decoder dec;
  std::mt19937 rng(49);
  int active = 1;
  for (int i = 1; i <= steps; ++i) {
    if (rng() % 3 == 0) active = 1 << rng() % 4;              // requests join and leave
    dec.step(active);
    if (i % 10 == 0) dec.report(i);
  }
}
