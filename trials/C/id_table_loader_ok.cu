// Epochs over click logs with double-buffered staging; ids met for the first time enter a device hash table that doubles.
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <unordered_set>
#include <vector>

#define CK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { \
  std::fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); std::exit(1); } } while (0)

__global__ void rehash(const int2* from, int2* to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[(unsigned(from[i].x) * 2654435761u) % (2 * n)] = from[i];
}
__global__ void lookup(const int2* table, const int* ids, int* rows, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) rows[i] = table[ids[i] & 1023].y;
}

class IdTable {
 public:
  IdTable() { CK(cudaMalloc(&slots_, cap_ * sizeof(int2))); }
  ~IdTable() { cudaFree(slots_); }
  void insert(const std::vector<int>& ids, cudaStream_t s) {
    for (int id : ids) known_.insert(id);
    while (known_.size() * 10 > size_t(cap_) * 7) expand(s);
  }
  const int2* slots() const { return slots_; }
  int capacity() const { return cap_; }
 private:
  void expand(cudaStream_t s) {
    int2* wider = nullptr;
    CK(cudaMalloc(&wider, 2 * size_t(cap_) * sizeof(int2)));
    rehash<<<(cap_ + 255) / 256, 256, 0, s>>>(slots_, wider, cap_);
    CK(cudaStreamSynchronize(s));
    CK(cudaFree(slots_));
    slots_ = wider;
    cap_ *= 2;
    std::printf("id table now %d slots\n", cap_);
  }
  int cap_ = 256;
  int2* slots_ = nullptr;
  std::unordered_set<int> known_;
};

struct Stage {
  int *host = nullptr, *dev = nullptr, *rows = nullptr;
  size_t cap = 0;
  cudaEvent_t free_again = nullptr;
  Stage() { CK(cudaEventCreateWithFlags(&free_again, cudaEventDisableTiming)); }
  ~Stage() { release(); cudaEventDestroy(free_again); }
  void reserve(size_t n) {
    if (n <= cap) return;
    release();
    n = (n + 127) & ~size_t(127);
    CK(cudaMallocHost(&host, n * sizeof(int)));
    CK(cudaMalloc(&dev, n * sizeof(int)));
    CK(cudaMalloc(&rows, n * sizeof(int)));
    cap = n;
  }
  void release() {
    if (!cap) return;
    CK(cudaFreeHost(host));
    CK(cudaFree(dev));
    CK(cudaFree(rows));
  }
};

int main(int argc, char** argv) {
  int steps = argc > 1 ? std::atoi(argv[1]) : 120, step = 0;
  cudaStream_t s;
  CK(cudaStreamCreate(&s));
  std::mt19937 rng(13);
  {
    IdTable table;
    Stage stage[2];
    for (int epoch = 0; step < steps; ++epoch) {
      int batches = 18 + int(rng() % 8);
      for (int b = 0; b < batches && step < steps; ++b, ++step) {
        Stage& st = stage[step & 1];
        std::vector<int> ids(192 + rng() % 256);
        for (int& id : ids) { double u = (rng() % 100000) / 1e5; id = int(u * u * 20000); }   // skewed, 20000 ids in all
        CK(cudaEventSynchronize(st.free_again));
        st.reserve(ids.size());
        std::copy(ids.begin(), ids.end(), st.host);
        table.insert(ids, s);
        CK(cudaMemcpyAsync(st.dev, st.host, ids.size() * sizeof(int), cudaMemcpyHostToDevice, s));
        lookup<<<unsigned(ids.size() + 255) / 256, 256, 0, s>>>(table.slots(), st.dev, st.rows, int(ids.size()));
        CK(cudaEventRecord(st.free_again, s));
        if ((step + 1) % 10 == 0) {
          size_t f, t;
          CK(cudaMemGetInfo(&f, &t));
          std::printf("epoch %d step %d table %d used %zu KiB\n", epoch, step + 1, table.capacity(), (t - f) >> 10);
        }
      }
    }
  }
  CK(cudaStreamDestroy(s));
}
