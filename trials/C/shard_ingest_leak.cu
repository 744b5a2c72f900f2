// Walks a tree of shard directories and uploads each file through a pinned read buffer to a device staging area.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#define CK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { \
  std::fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); std::exit(1); } } while (0)

struct Entry { std::string name; size_t bytes = 0; std::vector<Entry> children; };

Entry make_tree(std::mt19937& rng, const std::string& name, int depth) {
  Entry e{name, 0, {}};
  int fan = 2 + int(rng() % 3);
  for (int i = 0; i < fan; ++i) {
    std::string child = name + "/" + std::to_string(i);
    if (depth > 0) e.children.push_back(make_tree(rng, child, depth - 1));
    else e.children.push_back({child + ".rec", 16384 * size_t(1 + rng() % 8), {}});
  }
  return e;
}

class Reader : public std::enable_shared_from_this<Reader> {
 public:
  using Done = std::function<void(size_t)>;
  explicit Reader(std::string path) : path_(std::move(path)) {}
  ~Reader() { if (buf_) cudaFreeHost(buf_); }
  void open(size_t bytes) {
    bytes_ = bytes;
    CK(cudaHostAlloc(&buf_, bytes_, cudaHostAllocDefault));  // SITE main
    std::memset(buf_, 0x5a, 64);
  }
  void on_done(Done d) { done_ = std::move(d); }
  void upload(char* dst, cudaStream_t s) {
    for (size_t off = 0; off < bytes_; off += kChunk)
      CK(cudaMemcpyAsync(dst + off, static_cast<char*>(buf_) + off, kChunk, cudaMemcpyHostToDevice, s));
    CK(cudaStreamSynchronize(s));
    if (done_) done_(bytes_);
  }
  const std::string& path() const { return path_; }
 private:
  static constexpr size_t kChunk = 16384;
  std::string path_;
  void* buf_ = nullptr;
  size_t bytes_ = 0;
  Done done_;
};

class Ingest {
 public:
  explicit Ingest(int limit) : limit_(limit) {
    CK(cudaStreamCreate(&stream_));
    CK(cudaMalloc(&stage_, 256 << 10));
    CK(cudaMallocHost(&index_, 4096));
  }
  ~Ingest() { cudaFree(stage_); cudaFreeHost(index_); cudaStreamDestroy(stream_); }
  bool walk(const Entry& e) {
    if (e.children.empty()) { read_file(e); return files_ < limit_; }
    char* dir_index;                       // per-directory index, released on the way up
    CK(cudaMalloc(&dir_index, 512 * e.children.size()));
    CK(cudaMemcpyAsync(dir_index, index_, 512 * e.children.size() > 4096 ? 4096 : 512, cudaMemcpyHostToDevice, stream_));
    bool more = true;
    for (const auto& c : e.children) if (more) more = walk(c);
    CK(cudaFree(dir_index));
    return more;
  }
  bool done() const { return files_ >= limit_; }
 private:
  void read_file(const Entry& e) {
    auto r = std::make_shared<Reader>(e.name);
    r->open(e.bytes);
    r->on_done([this, r](size_t n) { total_ += n; last_ = r->path(); });  // SITE
    r->upload(stage_, stream_);
    if (++files_ % 10 == 0) {
      size_t f, t;
      CK(cudaMemGetInfo(&f, &t));
      std::printf("%d files, %zu KiB, last %s, used %zu KiB\n", files_, total_ >> 10, last_.c_str(), (t - f) >> 10);
    }
  }
  int limit_, files_ = 0;
  size_t total_ = 0;
  std::string last_;
  cudaStream_t stream_;
  char* stage_ = nullptr;
  char* index_ = nullptr;
};

int main(int argc, char** argv) {
  Ingest ingest(argc > 1 ? std::atoi(argv[1]) : 120);
  std::mt19937 rng(31);
  for (int day = 0; !ingest.done(); ++day) ingest.walk(make_tree(rng, "day" + std::to_string(day), 2));
}
