// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/mapped_header.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/frame.h"

namespace vramtrack {
namespace {

absl::Status Error(const std::string& path, int error) {
  return absl::FailedPreconditionError(absl::StrCat(path, ": ", std::strerror(error)));
}

// Whether the file is a trace of a version that this program knows.
absl::Status Check(int fd, const std::string& path) {
  struct stat info;
  uint8_t page[kHeaderBytes], expected[kHeaderBytes] = {};
  WriteHeaderPage(expected);
  const bool is_trace = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
                        pread(fd, page, sizeof page, 0) == static_cast<ssize_t>(sizeof page) &&
                        std::memcmp(page, expected, kHeaderVersionOffset) == 0;
  if (!is_trace) return absl::InvalidArgumentError(path + ": not a trace that vramtrack wrote");
  if (std::memcmp(page, expected, kHeaderCountersOffset) == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(path, ": unknown version of the format (expected ", kFormatVersion, ")"));
}

}  // namespace

absl::StatusOr<MappedHeader> MappedHeader::Open(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return Error(path, errno);
  if (absl::Status checked = Check(fd, path); !checked.ok()) {
    close(fd);
    return checked;
  }
  void* const page = mmap(nullptr, kHeaderBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  const int error = errno;
  close(fd);
  if (page == MAP_FAILED) return Error(path, error);
  return MappedHeader(page, path);
}

MappedHeader::MappedHeader(void* page, const std::string& path) : page_(page), range_(page, kHeaderBytes, path) {}

MappedHeader::MappedHeader(MappedHeader&& other) noexcept
    : page_(std::exchange(other.page_, nullptr)), range_(std::move(other.range_)) {}

MappedHeader::~MappedHeader() {
  if (page_ != nullptr) munmap(page_, kHeaderBytes);
}

std::atomic<uint64_t>& MappedHeader::Counter(schema::Counter which) const {
  static_assert(std::atomic<uint64_t>::is_always_lock_free, "shared with the traced process");
  return reinterpret_cast<std::atomic<uint64_t>*>(static_cast<uint8_t*>(page_) + kHeaderCountersOffset)[which];
}

}  // namespace vramtrack
