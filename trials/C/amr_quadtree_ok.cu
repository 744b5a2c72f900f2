// Block-structured adaptive mesh: a quadtree whose leaves own device patches, refined along a front that expands and contracts.
#include <cuda_runtime.h>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>

#define CK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { \
  std::fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); std::exit(1); } } while (0)

constexpr int kPatch = 32 * 32;
constexpr int kMaxLevel = 5;

__global__ void flux(float* u, int n, float dt) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) u[i] += dt * (u[(i + 1) % n] - u[i]);
}
__global__ void resample(const float* from, float* to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i / 2];
}

struct Quad {
  float x, y, size;
  int level;
  float* u = nullptr;
  std::array<std::unique_ptr<Quad>, 4> kids;
  Quad(float x_, float y_, float s, int l) : x(x_), y(y_), size(s), level(l) { CK(cudaMalloc(&u, kPatch * sizeof(float))); }
  ~Quad() { if (u) cudaFree(u); }
  bool leaf() const { return !kids[0]; }
};

class Mesh {
 public:
  Mesh() : root_(std::make_unique<Quad>(0.f, 0.f, 1.f, 0)) { CK(cudaStreamCreate(&s_)); }
  ~Mesh() { root_.reset(); cudaStreamDestroy(s_); }
  void step(float radius) {
    radius_ = radius;
    leaves_ = 0;
    adapt(*root_);
    advance(*root_, 1e-3f);
    CK(cudaStreamSynchronize(s_));
  }
  int leaves() const { return leaves_; }
 private:
  bool near_front(const Quad& q) const {
    float cx = q.x + q.size / 2 - 0.45f, cy = q.y + q.size / 2 - 0.55f;
    return std::fabs(std::sqrt(cx * cx + cy * cy) - radius_) < q.size * 0.75f;
  }
  void adapt(Quad& q) {
    bool want = q.level < kMaxLevel && near_front(q);
    if (want && q.leaf()) refine(q);
    else if (!want && !q.leaf()) coarsen(q);
    if (!q.leaf()) for (auto& k : q.kids) adapt(*k);
  }
  void refine(Quad& q) {
    float h = q.size / 2;
    for (int i = 0; i < 4; ++i) {
      q.kids[i] = std::make_unique<Quad>(q.x + (i & 1) * h, q.y + (i >> 1) * h, h, q.level + 1);
      resample<<<kPatch / 256, 256, 0, s_>>>(q.u, q.kids[i]->u, kPatch);
    }
    CK(cudaStreamSynchronize(s_));
    CK(cudaFree(q.u));
    q.u = nullptr;
  }
  void coarsen(Quad& q) {
    CK(cudaMalloc(&q.u, kPatch * sizeof(float)));
    CK(cudaMemsetAsync(q.u, 0, kPatch * sizeof(float), s_));
    for (auto& k : q.kids) k.reset();
  }
  void advance(Quad& q, float dt) {
    if (!q.leaf()) { for (auto& k : q.kids) advance(*k, dt); return; }
    ++leaves_;
    flux<<<kPatch / 256, 256, 0, s_>>>(q.u, kPatch, dt);
  }
  std::unique_ptr<Quad> root_;
  cudaStream_t s_;
  float radius_ = 0;
  int leaves_ = 0;
};

int main(int argc, char** argv) {
  int steps = argc > 1 ? std::atoi(argv[1]) : 120;
  Mesh mesh;
  for (int t = 1; t <= steps; ++t) {
    mesh.step(0.22f - 0.17f * std::cos(6.2831853f * float(t) / 48.f));
    if (t % 10 == 0) {
      size_t f, tot;
      CK(cudaMemGetInfo(&f, &tot));
      std::printf("t=%d leaves=%d used=%zu KiB\n", t, mesh.leaves(), (tot - f) >> 10);
    }
  }
}
