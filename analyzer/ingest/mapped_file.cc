// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ingest/mapped_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/base/input_file.h"

namespace vramtrack {
absl::StatusOr<MappedFile> MappedFile::Open(const std::string& path) {
  const absl::StatusOr<InputFile> input = InputFile::Open(path);
  if (!input.ok()) return input.status();
  MappedFile file;
  if (input->bytes() == 0) return file;
  void* at = mmap(nullptr, input->bytes(), PROT_READ, MAP_SHARED, input->fd(), 0);
  if (at == MAP_FAILED) return absl::FailedPreconditionError(absl::StrCat(path, ": ", std::strerror(errno)));
  file.bytes_ = {static_cast<const char*>(at), input->bytes()};
  file.range_ = MappedRange(at, input->bytes(), path);
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})), range_(std::move(other.range_)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(range_, other.range_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

void MappedFile::Release(std::string_view part) {
  static const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<uintptr_t>(part.data()) + page - 1) & ~(page - 1);
  const auto end = reinterpret_cast<uintptr_t>(part.data() + part.size()) & ~(page - 1);
  // A hint: nothing depends on its success.
  if (end > begin) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace vramtrack
