// Tiled path tracer: each frame's tiles are rendered by short-lived async tasks, each with its own scratch and stream.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <memory>
#include <random>
#include <vector>

#define CK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { \
  std::fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); std::exit(1); } } while (0)

constexpr int kTile = 64;

__global__ void trace_rays(float4* rays, float* out, int n, int sample) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { rays[i].x += sample; out[i] += rays[i].x; }
}

struct Scratch {
  float4* rays = nullptr;
  cudaStream_t stream = nullptr;
  Scratch() {
    CK(cudaMalloc(&rays, kTile * kTile * sizeof(float4)));  // SITE main
    CK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));  // SITE
  }
  ~Scratch() { cudaFree(rays); cudaStreamDestroy(stream); }
};

// Every thread has its own scratch so tiles do not serialise.
Scratch& scratch() {
  static thread_local Scratch* mine = nullptr;
  if (!mine) mine = new Scratch;  // SITE
  return *mine;
}

class Film {
 public:
  Film(int w, int h) : w_(w), h_(h) { CK(cudaMalloc(&px_, size_t(w) * h * sizeof(float))); }
  ~Film() { cudaFree(px_); }
  Film(const Film&) = delete;
  float* tile(int i) { return px_ + size_t(i) * kTile * kTile; }
  int tiles() const { return w_ / kTile * (h_ / kTile); }
 private:
  int w_, h_;
  float* px_ = nullptr;
};

class Renderer {
 public:
  void frame(int no, int samples) {
    int w = no % 7 == 0 ? 512 : 256;                 // key frames in high resolution
    Film film(w, 256);
    int half = film.tiles() / 2;
    auto part = [&](int from, int to) {
      Scratch& s = scratch();
      for (int t = from; t < to; ++t)
        for (int k = 0; k < samples; ++k)
          trace_rays<<<kTile * kTile / 256, 256, 0, s.stream>>>(s.rays, film.tile(t), kTile * kTile, k);
      CK(cudaStreamSynchronize(s.stream));
    };
    auto left = std::async(std::launch::async, part, 0, half);
    auto right = std::async(std::launch::async, part, half, film.tiles());
    left.get();
    right.get();
    denoise(film);
  }
 private:
  void denoise(Film& film) {                         // on the caller's thread
    Scratch& s = scratch();
    trace_rays<<<kTile * kTile / 256, 256, 0, s.stream>>>(s.rays, film.tile(0), kTile * kTile, 0);
    CK(cudaStreamSynchronize(s.stream));
  }
};

int main(int argc, char** argv) {
  int frames = argc > 1 ? std::atoi(argv[1]) : 120;
  Renderer r;
  std::mt19937 rng(3);
  for (int f = 0; f < frames; ++f) {
    r.frame(f, 1 + int(rng() % 4));
    if ((f + 1) % 10 == 0) {
      size_t fr, t;
      CK(cudaMemGetInfo(&fr, &t));
      std::printf("frame %d used %zu KiB\n", f + 1, (t - fr) >> 10);
    }
  }
}
