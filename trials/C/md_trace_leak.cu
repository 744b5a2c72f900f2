// Lennard-Jones fluid: blocks of time steps, neighbour list rebuilt every few steps, MSD from the stored positions.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <utility>

#define CK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { \
  std::fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); std::abort(); } } while (0)

template <typename T>
class DeviceVector {
 public:
  DeviceVector() = default;
  explicit DeviceVector(size_t n) { grow(n); size_ = n; }
  ~DeviceVector() { if (data_) cudaFree(data_); }
  DeviceVector(const DeviceVector&) = delete;
  void append(const T* src, size_t n, cudaStream_t s) {
    if (size_ + n > cap_) grow(size_ + n);
    CK(cudaMemcpyAsync(data_ + size_, src, n * sizeof(T), cudaMemcpyDeviceToDevice, s));
    size_ += n;
  }
  void resize_discard(size_t n) { if (n > cap_) grow(n); size_ = n; }
  T* data() { return data_; }
  size_t size() const { return size_; }
 private:
  void grow(size_t n) {
    T* bigger = nullptr;
    CK(cudaMalloc(&bigger, n * sizeof(T)));  // SITE main
    if (data_) {
      CK(cudaMemcpy(bigger, data_, size_ * sizeof(T), cudaMemcpyDeviceToDevice));
      CK(cudaFree(data_));
    }
    data_ = bigger;
    cap_ = n;
  }
  T* data_ = nullptr;
  size_t size_ = 0, cap_ = 0;
};

__global__ void integrate(float3* x, float3* v, const float3* f, int n, float dt) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  v[i].x += f[i].x * dt; v[i].y += f[i].y * dt; v[i].z += f[i].z * dt;
  x[i].x += v[i].x * dt; x[i].y += v[i].y * dt; x[i].z += v[i].z * dt;
}
__global__ void pair_forces(const float3* x, float3* f, const int* nl, int pairs) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p < pairs) atomicAdd(&f[nl[2 * p] & 1023].x, 1e-3f * (x[0].x - x[1].x));
}
__global__ void msd(const float3* now, const float3* then, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { float d = now[i].x - then[i].x; atomicAdd(out, d * d); }
}

class Fluid {
 public:
  explicit Fluid(int n) : n_(n), pos_(n), vel_(n), force_(n), acc_(1) { CK(cudaStreamCreate(&stream_)); }
  ~Fluid() { cudaStreamDestroy(stream_); }
  void step(int t) {
    if (t % 5 == 0) rebuild_neighbours();
    int g = (n_ + 255) / 256;
    pair_forces<<<(pairs_ + 255) / 256, 256, 0, stream_>>>(pos_.data(), force_.data(), nl_.data(), pairs_);
    integrate<<<g, 256, 0, stream_>>>(pos_.data(), vel_.data(), force_.data(), n_, 1e-3f);
    trace_.append(pos_.data(), n_, stream_);  // SITE
    correlate();
  }
  void report(int t) {
    size_t f, tot;
    CK(cudaStreamSynchronize(stream_));
    CK(cudaMemGetInfo(&f, &tot));
    std::printf("t=%d pairs=%d frames=%zu used=%zu KiB\n", t, pairs_, trace_.size() / n_, (tot - f) >> 10);
  }
 private:
  void rebuild_neighbours() {
    pairs_ = 20000 + int(rng_() % 12000);
    nl_.resize_discard(2 * size_t(pairs_));
  }
  void correlate() {   // mean squared displacement over the last ten frames
    size_t frames = trace_.size() / n_, lag = frames < 10 ? frames - 1 : 9;
    const float3* now = trace_.data() + (frames - 1) * n_;
    msd<<<(n_ + 255) / 256, 256, 0, stream_>>>(now, now - lag * n_, acc_.data(), n_);
  }
  int n_, pairs_ = 0;
  std::mt19937 rng_{5};
  DeviceVector<float3> pos_, vel_, force_, trace_;
  DeviceVector<int> nl_;
  DeviceVector<float> acc_;
  cudaStream_t stream_;
};

int main(int argc, char** argv) {
  int steps = argc > 1 ? std::atoi(argv[1]) : 120, t = 0;
  Fluid fluid(1024);
  while (t < steps) {                       // blocks
    for (int k = 0; k < 10 && t < steps; ++k, ++t) fluid.step(t);
    fluid.report(t);
  }
}
