// Feature scoring service: a bounded queue served by three workers, one context (stream, pinned reply) per worker.
#include <cuda_runtime.h>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

inline void check(cudaError_t e, const char* what) {
  if (e != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(e));
}
#define CK(x) check((x), #x)

constexpr int kCols = 64;

__global__ void score(const float* x, const float* w, float* out, int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float s = 0;
  for (int c = 0; c < kCols; ++c) s += x[r * kCols + c] * w[c];
  out[r] = s;
}

struct Request { int id; int rows; int schema; };
struct BadSchema : std::runtime_error { using std::runtime_error::runtime_error; };

class Queue {
 public:
  void push(Request r) {
    std::unique_lock<std::mutex> l(m_);
    cv_.wait(l, [&] { return q_.size() < 8; });
    q_.push_back(r);
    cv_.notify_all();
  }
  bool pop(Request* r) {
    std::unique_lock<std::mutex> l(m_);
    cv_.wait(l, [&] { return closed_ || !q_.empty(); });
    if (q_.empty()) return false;
    *r = q_.front();
    q_.pop_front();
    cv_.notify_all();
    return true;
  }
  void close() { std::lock_guard<std::mutex> l(m_); closed_ = true; cv_.notify_all(); }
 private:
  std::mutex m_;
  std::condition_variable cv_;
  std::deque<Request> q_;
  bool closed_ = false;
};

template <class T> struct DeviceArray {
  T* p = nullptr;
  explicit DeviceArray(size_t n) { CK(cudaMalloc(&p, n * sizeof(T))); }
  ~DeviceArray() { cudaFree(p); }
  DeviceArray(const DeviceArray&) = delete;
};

class Worker {
 public:
  Worker(Queue& q, const float* w) : queue_(q), weights_(w) {
    CK(cudaStreamCreate(&stream_));
    CK(cudaMallocHost(&reply_, 4096 * sizeof(float)));
  }
  ~Worker() { cudaFreeHost(reply_); cudaStreamDestroy(stream_); }
  void serve() {
    Request r;
    while (queue_.pop(&r)) {
      try { handle(r); } catch (const BadSchema& e) { ++rejected_; }
      finish();
    }
  }
  static int served;
 private:
  void check_schema(const Request& r) const {
    if (r.schema != 3) throw BadSchema("request " + std::to_string(r.id) + " has schema " + std::to_string(r.schema));
  }
  void handle(const Request& r) {
    DeviceArray<float> out(r.rows);
    float* feats = nullptr;
    CK(cudaMalloc(&feats, size_t(r.rows) * kCols * sizeof(float)));  // SITE
    CK(cudaMemsetAsync(feats, 0, size_t(r.rows) * kCols * sizeof(float), stream_));
    check_schema(r);
    score<<<(r.rows + 127) / 128, 128, 0, stream_>>>(feats, weights_, out.p, r.rows);
    CK(cudaMemcpyAsync(reply_, out.p, r.rows * sizeof(float), cudaMemcpyDeviceToHost, stream_));
    CK(cudaStreamSynchronize(stream_));
    CK(cudaFree(feats));
  }
  static void finish() {
    static std::mutex m;
    std::lock_guard<std::mutex> l(m);
    if (++served % 10 == 0) {
      size_t f, t;
      CK(cudaMemGetInfo(&f, &t));
      std::printf("served %d, used %zu KiB\n", served, (t - f) >> 10);
    }
  }
  Queue& queue_;
  const float* weights_;
  cudaStream_t stream_;
  float* reply_ = nullptr;
  int rejected_ = 0;
};
int Worker::served = 0;

int main(int argc, char** argv) {
  int total = argc > 1 ? std::atoi(argv[1]) : 120;
  DeviceArray<float> weights(kCols);
  Queue queue;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back([&] { Worker w(queue, weights.p); w.serve(); });
  std::mt19937 rng(2024);
  for (int id = 0; id < total; ++id) {
    int rows = 256 * (1 + int(rng() % 8));
    queue.push({id, rows, rng() % 10 == 0 ? 2 : 3});   // old clients still send schema 2
  }
  queue.close();
  for (auto& t : threads) t.join();
}
