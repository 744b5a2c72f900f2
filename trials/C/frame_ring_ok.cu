// Capture thread writes into a ring of recent frames (instant replay); an analyser thread holds a few of them a little longer.
#include <cuda_runtime.h>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#define CK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { \
  std::fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); std::exit(1); } } while (0)

__global__ void luma_stats(const unsigned char* px, unsigned* hist, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&hist[px[i]], 1u);
}

class EventPool {
 public:
  ~EventPool() { for (auto e : free_) cudaEventDestroy(e); }
  cudaEvent_t take() {
    std::lock_guard<std::mutex> l(m_);
    if (free_.empty()) { cudaEvent_t e; CK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming)); return e; }
    cudaEvent_t e = free_.back();
    free_.pop_back();
    return e;
  }
  void give(cudaEvent_t e) { std::lock_guard<std::mutex> l(m_); free_.push_back(e); }
 private:
  std::mutex m_;
  std::vector<cudaEvent_t> free_;
};

struct Frame {
  Frame(int n, int w, int h, EventPool& p) : no(n), bytes(size_t(w) * h), pool(p), ready(p.take()) { CK(cudaMalloc(&px, bytes)); }
  ~Frame() { cudaFree(px); pool.give(ready); }
  Frame(const Frame&) = delete;
  int no; size_t bytes; EventPool& pool; cudaEvent_t ready;
  unsigned char* px = nullptr;
};
using FramePtr = std::shared_ptr<Frame>;

class Replay {
 public:
  explicit Replay(size_t slots) : ring_(slots) {}
  void push(FramePtr f) {
    std::unique_lock<std::mutex> l(m_);
    cv_.wait(l, [&] { return pending_.size() < 4; });
    pending_.push_back(f);
    ring_[head_++ % ring_.size()] = std::move(f);
    cv_.notify_all();
  }
  FramePtr next() {
    std::unique_lock<std::mutex> l(m_);
    cv_.wait(l, [&] { return closed_ || !pending_.empty(); });
    if (pending_.empty()) return nullptr;
    FramePtr f = pending_.front();
    pending_.pop_front();
    cv_.notify_all();
    return f;
  }
  void close() { std::lock_guard<std::mutex> l(m_); closed_ = true; cv_.notify_all(); }
 private:
  std::mutex m_;
  std::condition_variable cv_;
  std::deque<FramePtr> pending_;
  std::vector<FramePtr> ring_;
  size_t head_ = 0;
  bool closed_ = false;
};

void analyse(Replay& replay) {
  cudaStream_t s;
  CK(cudaStreamCreate(&s));
  unsigned* hist;
  CK(cudaMalloc(&hist, 256 * sizeof(unsigned)));
  std::deque<FramePtr> window;                       // temporal window for motion
  while (FramePtr f = replay.next()) {
    CK(cudaStreamWaitEvent(s, f->ready, 0));
    luma_stats<<<unsigned(f->bytes / 256), 256, 0, s>>>(f->px, hist, int(f->bytes));
    window.push_back(std::move(f));
    if (window.size() > 5) window.pop_front();
    CK(cudaStreamSynchronize(s));
  }
  CK(cudaFree(hist));
  CK(cudaStreamDestroy(s));
}

int main(int argc, char** argv) {
  int frames = argc > 1 ? std::atoi(argv[1]) : 120;
  static const int kModes[][2] = {{640, 360}, {320, 180}, {480, 270}};
  EventPool events;
  Replay replay(24);
  std::thread analyser(analyse, std::ref(replay));
  cudaStream_t capture;
  CK(cudaStreamCreate(&capture));
  for (int n = 0; n < frames; ++n) {
    const int* m = kModes[n / 30 % 3];               // the camera renegotiates its mode now and then
    auto f = std::make_shared<Frame>(n, m[0], m[1], events);
    CK(cudaMemsetAsync(f->px, n & 255, f->bytes, capture));
    CK(cudaEventRecord(f->ready, capture));
    replay.push(std::move(f));
    if ((n + 1) % 10 == 0) {
      size_t fr, t;
      CK(cudaMemGetInfo(&fr, &t));
      std::printf("frame %d mode %dx%d used %zu KiB\n", n + 1, m[0], m[1], (t - fr) >> 10);
    }
  }
  replay.close();
  analyser.join();
  CK(cudaStreamDestroy(capture));
}
