// Beam search over a token tree; every node's activations come from a slab arena that is rewound after each request.
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

#define CK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { \
  std::fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); std::exit(1); } } while (0)

__global__ void expand(const float* parent, float* child, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) child[i] = parent ? parent[i % 64] + 1.f : 0.f;
}

class SlabArena {
 public:
  static constexpr size_t kSlab = 256 << 10;
  ~SlabArena() { for (char* s : slabs_) cudaFree(s); }
  float* take(size_t floats) {
    size_t bytes = (floats * sizeof(float) + 255) & ~size_t(255);
    if (slabs_.empty() || off_ + bytes > kSlab) next_slab();
    float* p = reinterpret_cast<float*>(slabs_[cur_] + off_);
    off_ += bytes;
    return p;
  }
  void rewind() { cur_ = 0; off_ = 0; }
  size_t slabs() const { return slabs_.size(); }
 private:
  void next_slab() {
    if (!slabs_.empty()) ++cur_;
    off_ = 0;
    if (cur_ < slabs_.size()) return;
    char* s = nullptr;
    CK(cudaMalloc(&s, kSlab));
    slabs_.push_back(s);
  }
  std::vector<char*> slabs_;
  size_t cur_ = 0, off_ = 0;
};

struct Node { float* act; std::vector<std::unique_ptr<Node>> kids; };

class BeamSearch {
 public:
  BeamSearch() { CK(cudaStreamCreate(&s_)); }
  ~BeamSearch() { cudaStreamDestroy(s_); }
  size_t request(int width, int depth) {
    width_ = width;
    auto root = grow(nullptr, depth);
    CK(cudaStreamSynchronize(s_));
    size_t n = count(*root);
    arena_.rewind();
    return n;
  }
  void report(int r) const {
    size_t f, t;
    CK(cudaMemGetInfo(&f, &t));
    std::printf("request %d width %d slabs %zu used %zu KiB\n", r, width_, arena_.slabs(), (t - f) >> 10);
  }
 private:
  std::unique_ptr<Node> grow(const Node* parent, int depth) {
    auto n = std::make_unique<Node>();
    n->act = arena_.take(width_);
    expand<<<(width_ + 127) / 128, 128, 0, s_>>>(parent ? parent->act : nullptr, n->act, width_);
    if (depth > 0) for (int i = 0; i < 3; ++i) n->kids.push_back(grow(n.get(), depth - 1));
    return n;
  }
  static size_t count(const Node& n) {
    size_t c = 1;
    for (auto& k : n.kids) c += count(*k);
    return c;
  }
  cudaStream_t s_;
  SlabArena arena_;
  int width_ = 0;
};

int main(int argc, char** argv) {
  int total = argc > 1 ? std::atoi(argv[1]) : 120;
  BeamSearch beam;
  std::mt19937 rng(8);
  for (int r = 1; r <= total; ++r) {
    int ramp = std::min(r, 40);                       // traffic shifts to the wide model during roll-out
    int width = 256 + ramp * 64 - int(rng() % 5 == 0 ? rng() % 512 : 0);
    beam.request(std::max(width, 128), 4);
    if (r % 10 == 0) beam.report(r);
  }
}
