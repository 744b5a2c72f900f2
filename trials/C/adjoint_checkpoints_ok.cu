// Shallow-water solver with an adjoint: forward segments store a snapshot per step, the backward sweep consumes them.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

#define CK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { \
  std::fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); std::exit(1); } } while (0)

constexpr int kN = 128;
constexpr int kSegment = 25;

__global__ void advance(float* h, const float* u, int n, float dt) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) h[i] -= dt * (u[i + 1] - u[i - 1]);
}
__global__ void adjoint(float* lam, const float* h, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) lam[i] += h[i] * 1e-3f;
}

struct CudaFree { void operator()(float* p) const { cudaFree(p); } };
using Field = std::unique_ptr<float, CudaFree>;
Field field(size_t n) { float* p; CK(cudaMalloc(&p, n * sizeof(float))); return Field(p); }

class ShallowWater {
 public:
  ShallowWater() : h_(field(kN * kN)), u_(field(kN * kN)), lam_(field(kN * kN)) { CK(cudaStreamCreate(&s_)); }
  ~ShallowWater() { tape_.clear(); cudaStreamDestroy(s_); }
  void forward(float dt, int sub) {
    Field snap = field(kN * kN);
    CK(cudaMemcpyAsync(snap.get(), h_.get(), kN * kN * sizeof(float), cudaMemcpyDeviceToDevice, s_));
    for (int k = 0; k < sub; ++k) advance<<<kN * kN / 256, 256, 0, s_>>>(h_.get(), u_.get(), kN * kN, dt / sub);
    tape_.push_back(std::move(snap));
  }
  void backward() {
    Field grad = field(kN * kN);
    while (!tape_.empty()) {
      adjoint<<<kN * kN / 256, 256, 0, s_>>>(lam_.get(), tape_.back().get(), kN * kN);
      CK(cudaStreamSynchronize(s_));
      tape_.pop_back();
    }
    CK(cudaMemcpyAsync(grad.get(), lam_.get(), kN * kN * sizeof(float), cudaMemcpyDeviceToDevice, s_));
    CK(cudaStreamSynchronize(s_));
  }
  void report(int t) const {
    size_t f, tot;
    CK(cudaMemGetInfo(&f, &tot));
    std::printf("t=%d tape=%zu used=%zu KiB\n", t, tape_.size(), (tot - f) >> 10);
  }
 private:
  cudaStream_t s_;
  Field h_, u_, lam_;
  std::vector<Field> tape_;
};

int main(int argc, char** argv) {
  int steps = argc > 1 ? std::atoi(argv[1]) : 120;
  ShallowWater sw;
  std::mt19937 rng(4);
  for (int t = 1; t <= steps; ++t) {
    sw.forward(0.01f, 1 + int(rng() % 3));
    if (t % 10 == 0) sw.report(t);
    if (t % kSegment == 0) sw.backward();
  }
}
