// SPDX-License-Identifier: Apache-2.0
//
// System calls of the recorder. They bypass libc's functions: those are cancellation points, so a cancelled thread
// would unwind through a hook, and another preloaded library may have replaced them. All may change errno: the caller
// saves it.
#ifndef INTERPOSE_BASE_SYSTEM_CALL_H_
#define INTERPOSE_BASE_SYSTEM_CALL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

struct iovec;

namespace vramtrack {

// Opens a file for reading and writing and returns its descriptor, or -errno. Does not follow a symbolic link in the
// last component of the path. With `exclusive`, the file must not exist yet and is created with mode 0600, because a
// trace contains the command line. Otherwise the file must exist.
int OpenForWriting(const char* path, bool exclusive);
// Returns whether `path` is a regular file. A symbolic link is not.
bool IsRegularFile(const char* path);
int OpenForReading(const char* path);
void Close(int fd);
// Moves `fd` to a high number if the process may use one, because programs use low numbers and close them in loops.
// Returns the new descriptor, which is never stdin, stdout or stderr. If there is none, closes `fd` and returns -errno.
int MoveUp(int fd);
void Remove(const char* path);
bool IsOpen(int fd);
// Writes the working directory to `path`. Returns false if it has no absolute path or the path does not fit.
bool WorkingDirectory(char* path, size_t capacity);

// Writes all bytes. Returns 0 or -errno; -ENOSPC if the disk is full.
int WriteAt(int fd, const void* data, size_t bytes, uint64_t offset);
// Reads all bytes. Returns 0 or -errno; -EIO if the file ends earlier.
int ReadAt(int fd, void* data, size_t bytes, uint64_t offset);
// Reads up to `bytes` at the file's position. Returns the number of bytes, 0 at the end of the file, or -errno.
int64_t ReadSome(int fd, void* data, size_t bytes);
// Reads memory of this process from the `remote` ranges into the `local` ones. Returns the number of bytes read before
// the first that cannot be read, or -errno if there is none.
int64_t ReadOwnMemory(const iovec* local, size_t locals, const iovec* remote, size_t remotes);
// Allocates disk space for the range. Returns 0 or -errno. After success, a store into a mapping of the range cannot
// fail because disk space is missing.
int Allocate(int fd, uint64_t offset, uint64_t bytes);

struct FileStatus {
  uint64_t device, inode, links, bytes;
  uint64_t modified_ns;  // since 1970
  bool regular;

  bool IsOfSameFileAs(const FileStatus& other) const { return device == other.device && inode == other.inode; }
};
// Return false if the descriptor is not open, or there is no such file.
bool StatusOf(int fd, FileStatus* status);
bool StatusOf(const char* path, bool follow_links, FileStatus* status);

// Returns RLIMIT_FSIZE in bytes, or UINT64_MAX for no limit. A write beyond it raises SIGXFSZ.
uint64_t FileSizeLimit();

// Maps part of a file, shared, for reading and writing. `offset` need not be a multiple of the page size. Returns null
// on failure. A forked child does not inherit the mapping, because it must never write to the file of its parent.
void* MapShared(int fd, uint64_t offset, size_t bytes);
// Maps zeroed private memory. Returns null on failure.
void* MapPrivate(size_t bytes);
// Does the same for small tables that hooks look into at random: they share one large page, where the system has any,
// because a miss of the translation cache costs as much as one of the data. Never unmap them. Thread-safe.
void* MapTable(size_t bytes);
// Maps private memory that is zeroed in a forked child. Returns null on failure, or if the kernel does not support it
// (before 4.14).
void* MapWipedOnFork(size_t bytes);
// Asks for large pages for private memory, where the system has them.
void UseHugePages(void* at, size_t bytes);
void Unmap(void* at, size_t bytes);
// Zeroes private memory in place. Returns false, with the memory unchanged, on failure.
bool Empty(void* at, size_t bytes);
// Resizes private memory, which may move; added bytes are zero. Returns the new address, or null with `at` unchanged.
void* Remap(void* at, size_t bytes, size_t new_bytes);

// Returns whether the 8 bytes at `address` can be read. The kernel reads them, so an invalid address causes no fault.
bool IsReadable(uint64_t address);

uint32_t ThreadId();
void Yield();

// Sleeps while `*word` equals `value`, until the word is woken or the time is over. May return early.
void WaitWhile(std::atomic<uint32_t>* word, uint32_t value, uint32_t nanoseconds);
void WakeOne(std::atomic<uint32_t>* word);
void WakeAll(std::atomic<uint32_t>* word);

// Returns in `*nanoseconds` the processor time that a thread of this process has used. Returns false for an unknown
// thread.
bool ThreadCpuNs(uint32_t thread, uint64_t* nanoseconds);

// Reads up to `capacity` - 1 bytes of a file into `buffer` and adds a zero. Returns the number of bytes read, or
// -errno.
int ReadSmallFile(const char* path, char* buffer, size_t capacity);

}  // namespace vramtrack

#endif  // INTERPOSE_BASE_SYSTEM_CALL_H_
