// Image batch resizer on a thread pool with per-thread workspaces; the pool is rebuilt when a shift (of 60 jobs) ends.
#include <cuda_runtime.h>
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <mutex>
#include <queue>
#include <random>
#include <thread>
#include <vector>

#define CK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { \
  std::fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); std::exit(1); } } while (0)

__global__ void resize(const float* src, float* dst, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) dst[i] = src[i] * 0.25f;
}

struct Workspace {
  cudaStream_t stream = nullptr;
  float *dev = nullptr, *pinned = nullptr;
  size_t cap = 0;
  Workspace() { CK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)); }
  ~Workspace() { drop(); cudaStreamDestroy(stream); }
  void fit(size_t n) {
    if (n <= cap) return;
    drop();
    CK(cudaMalloc(&dev, 2 * n * sizeof(float)));
    CK(cudaHostAlloc(&pinned, n * sizeof(float), cudaHostAllocDefault));
    cap = n;
  }
  void drop() { if (cap) { cudaFree(dev); cudaFreeHost(pinned); cap = 0; } }
};
Workspace& workspace() { thread_local Workspace w; return w; }

class ThreadPool {
 public:
  explicit ThreadPool(int n) { for (int i = 0; i < n; ++i) threads_.emplace_back([this] { work(); }); }
  ~ThreadPool() {
    { std::lock_guard<std::mutex> l(m_); stop_ = true; }
    cv_.notify_all();
    for (auto& t : threads_) t.join();
  }
  std::future<void> submit(std::function<void()> f) {
    std::packaged_task<void()> t(std::move(f));
    auto r = t.get_future();
    { std::lock_guard<std::mutex> l(m_); q_.push(std::move(t)); }
    cv_.notify_one();
    return r;
  }
 private:
  void work() {
    for (;;) {
      std::packaged_task<void()> t;
      {
        std::unique_lock<std::mutex> l(m_);
        cv_.wait(l, [&] { return stop_ || !q_.empty(); });
        if (q_.empty()) return;
        t = std::move(q_.front());
        q_.pop();
      }
      t();
    }
  }
  std::mutex m_;
  std::condition_variable cv_;
  std::queue<std::packaged_task<void()>> q_;
  std::vector<std::thread> threads_;
  bool stop_ = false;
};

std::atomic<int> g_jobs{0};

void resize_batch(std::vector<int> images) {
  Workspace& w = workspace();
  for (int px : images) {
    w.fit(px);
    CK(cudaMemcpyAsync(w.dev, w.pinned, px * sizeof(float), cudaMemcpyHostToDevice, w.stream));
    resize<<<(px + 255) / 256, 256, 0, w.stream>>>(w.dev, w.dev + w.cap, px);
    CK(cudaMemcpyAsync(w.pinned, w.dev + w.cap, px / 4 * sizeof(float), cudaMemcpyDeviceToHost, w.stream));
  }
  CK(cudaStreamSynchronize(w.stream));
  int n = ++g_jobs;
  if (n % 10 == 0) {
    size_t f, t;
    CK(cudaMemGetInfo(&f, &t));
    std::printf("jobs %d used %zu KiB\n", n, (t - f) >> 10);
  }
}

int main(int argc, char** argv) {
  int total = argc > 1 ? std::atoi(argv[1]) : 120;
  std::mt19937 rng(21);
  for (int done = 0; done < total;) {
    ThreadPool pool(4);
    std::vector<std::future<void>> pending;
    for (int shift = std::min(60, total - done); shift > 0; --shift, ++done) {
      std::vector<int> images(1 + rng() % 5);
      for (int& px : images) px = 64 * (32 + int(rng() % 480));
      pending.push_back(pool.submit([images] { resize_batch(images); }));
    }
    for (auto& p : pending) p.get();
  }
}
