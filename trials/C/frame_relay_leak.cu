// Demux -> decode -> overlay -> encode relay. Frames arrive by callback from the demuxer; surfaces are recycled.
#include <cuda_runtime.h>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <random>

#define CK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { \
  std::fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); std::exit(1); } } while (0)

constexpr int kW = 640, kH = 360;

__global__ void overlay(unsigned char* y, int n, int pts) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && (i + pts) % 97 == 0) y[i] = 235;
}

struct Packet { int pts; char type; int bytes; };

// Produces GOPs and hands packets to the sink, as libav's callbacks do.
class Demuxer {
 public:
  explicit Demuxer(int frames) : left_(frames) {}
  void run(const std::function<void(const Packet&)>& sink, const std::function<void()>& flush) {
    std::mt19937 rng(11);
    while (left_ > 0) {
      int gop = 12 + int(rng() % 10);
      for (int i = 0; i < gop && left_ > 0; ++i, --left_)
        sink({pts_++, i == 0 ? 'I' : (i % 3 ? 'B' : 'P'), 2000 + int(rng() % 9000)});
      flush();
    }
  }
 private:
  int left_, pts_ = 0;
};

struct Surface {
  unsigned char* luma = nullptr;
  cudaEvent_t decoded = nullptr;   // decode stream -> overlay stream
  cudaEvent_t encoded = nullptr;   // overlay stream -> recycling
  int pts = -1;
};

class Relay {
 public:
  Relay() {
    CK(cudaStreamCreateWithFlags(&decode_, cudaStreamNonBlocking));
    CK(cudaStreamCreateWithFlags(&render_, cudaStreamNonBlocking));
    CK(cudaMallocHost(&bitstream_, 64 << 10));
    for (auto& s : surfaces_) { CK(cudaMalloc(&s.luma, kW * kH * 3 / 2)); idle_.push_back(&s); }
  }
  ~Relay() {
    drain(0);
    for (auto& s : surfaces_) CK(cudaFree(s.luma));
    CK(cudaFreeHost(bitstream_));
    CK(cudaStreamDestroy(decode_));
    CK(cudaStreamDestroy(render_));
  }
  void on_packet(const Packet& p) {
    if (idle_.empty()) drain(busy_.size() - 1);
    Surface* s = idle_.front();
    idle_.pop_front();
    s->pts = p.pts;
    CK(cudaEventCreateWithFlags(&s->decoded, cudaEventDisableTiming));  // SITE
    CK(cudaEventCreateWithFlags(&s->encoded, cudaEventDisableTiming));
    CK(cudaMemcpyAsync(s->luma, bitstream_, p.bytes, cudaMemcpyHostToDevice, decode_));
    CK(cudaEventRecord(s->decoded, decode_));
    CK(cudaStreamWaitEvent(render_, s->decoded, 0));
    overlay<<<(kW * kH + 255) / 256, 256, 0, render_>>>(s->luma, kW * kH, p.pts);
    CK(cudaEventRecord(s->encoded, render_));
    busy_.push_back(s);
    if (++count_ % 10 == 0) log();
  }
  void drain(size_t keep) {
    while (busy_.size() > keep) {
      Surface* s = busy_.front();
      busy_.pop_front();
      CK(cudaEventSynchronize(s->encoded));
      CK(cudaEventDestroy(s->encoded));
      s->encoded = nullptr;
      idle_.push_back(s);
    }
  }
 private:
  void log() const {
    size_t f, t;
    CK(cudaMemGetInfo(&f, &t));
    std::printf("frame %d idle=%zu busy=%zu used=%zu KiB\n", count_, idle_.size(), busy_.size(), (t - f) >> 10);
  }
  cudaStream_t decode_, render_;
  unsigned char* bitstream_ = nullptr;
  std::array<Surface, 6> surfaces_;
  std::deque<Surface*> idle_, busy_;
  int count_ = 0;
};

int main(int argc, char** argv) {
  int frames = argc > 1 ? std::atoi(argv[1]) : 120;
  Relay relay;
  Demuxer demux(frames);
  demux.run([&](const Packet& p) { relay.on_packet(p); }, [&] { relay.drain(2); });
}
