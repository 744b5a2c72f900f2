// Continuous batching with a virtually contiguous KV range per session; physical pages are mapped as tokens arrive.
#include <cuda.h>
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <memory>
#include <random>
#include <vector>

#define CU(x) do { CUresult e_ = (x); if (e_ != CUDA_SUCCESS) { \
  std::fprintf(stderr, "%s:%d driver error %d\n", __FILE__, __LINE__, int(e_)); std::exit(1); } } while (0)

constexpr size_t kTokenBytes = 16384;
constexpr size_t kMaxPages = 8;

class KvRange {
 public:
  explicit KvRange(int device) {
    prop_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop_.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    CU(cuMemGetAllocationGranularity(&page_, &prop_, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CU(cuMemAddressReserve(&base_, page_ * kMaxPages, 0, 0, 0));
  }
  ~KvRange() {
    if (!pages_.empty()) CU(cuMemUnmap(base_, page_ * pages_.size()));
    CU(cuMemAddressFree(base_, page_ * kMaxPages));
  }
  KvRange(const KvRange&) = delete;
  void ensure(size_t tokens) {
    while (pages_.size() * page_ < tokens * kTokenBytes) map_page();
  }
  size_t pages() const { return pages_.size(); }
  CUdeviceptr at(size_t token) const { return base_ + token * kTokenBytes; }
 private:
  void map_page() {
    CUmemGenericAllocationHandle h;
    CU(cuMemCreate(&h, page_, &prop_, 0));  // SITE main
    CUdeviceptr va = base_ + pages_.size() * page_;
    CU(cuMemMap(va, page_, 0, h, 0));
    CUmemAccessDesc rw{prop_.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CU(cuMemSetAccess(va, page_, &rw, 1));
    pages_.push_back(h);
  }
  CUmemAllocationProp prop_{};
  size_t page_ = 0;
  CUdeviceptr base_ = 0;
  std::vector<CUmemGenericAllocationHandle> pages_;
};

struct Session {
  int id; size_t length; size_t done = 0;
  KvRange kv{0};
  Session(int i, size_t n) : id(i), length(n) {}
};

class Scheduler {
 public:
  explicit Scheduler(int total) : total_(total) {}
  void run() { while (finished_ < total_) { admit(); decode(); retire(); } }
 private:
  void admit() {
    while (running_.size() < 4 && next_ < total_)
      running_.push_back(std::make_unique<Session>(next_++, 40 + rng_() % 345));
  }
  void decode() {
    for (auto& s : running_) {
      size_t n = std::min<size_t>(16, s->length - s->done);
      s->kv.ensure(s->done + n);
      CU(cuMemsetD8(s->kv.at(s->done), 0, n * 64));
      s->done += n;
    }
    ++ticks_;
  }
  void retire() {
    for (auto it = running_.begin(); it != running_.end();) {
      if ((*it)->done < (*it)->length) { ++it; continue; }
      it = running_.erase(it);
      if (++finished_ % 10 == 0) report();
    }
  }
  void report() const {
    size_t f, t;
    cudaMemGetInfo(&f, &t);
    size_t pages = 0;
    for (auto& s : running_) pages += s->kv.pages();
    std::printf("finished %d ticks %d mapped pages %zu used %zu MiB\n", finished_, ticks_, pages, (t - f) >> 20);
  }
  int total_, next_ = 0, finished_ = 0, ticks_ = 0;
  std::mt19937 rng_{19};
  std::list<std::unique_ptr<Session>> running_;
};

int main(int argc, char** argv) {
  cudaFree(nullptr);                        // primary context
  Scheduler(argc > 1 ? std::atoi(argv[1]) : 120).run();
}
