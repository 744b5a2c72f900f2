// SPDX-License-Identifier: Apache-2.0
//
// System calls of the recorder. Not through libc's functions: those are cancellation points, so a cancelled thread
// would unwind through a hook, and another preloaded library may have replaced them. All leave errno to the caller's
// care.
#ifndef INTERPOSE_BASE_SYSTEM_CALL_H_
#define INTERPOSE_BASE_SYSTEM_CALL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace vramtrack {

// A descriptor, or -errno. Never through a link at the path's end. `exclusive`: the file must not exist yet and is
// created for its owner only (0600): a trace has the command line in it. Otherwise it must exist.
int OpenForWriting(const char* path, bool exclusive);
// Without following a link.
bool IsRegularFile(const char* path);
int OpenForReading(const char* path);
void Close(int fd);
// Moves `fd` above the numbers that programs use and close in loops, as far as they may; returns the new number, which
// is never one of stdin, stdout and stderr. -errno, with `fd` closed, where there is none.
int MoveUp(int fd);
void Remove(const char* path);
bool IsOpen(int fd);
// False where the process has none that it could reach.
bool WorkingDirectory(char* path, size_t capacity);

// 0 or -errno. Writes all or, at a full disk, fails.
int WriteAt(int fd, const void* data, size_t bytes, uint64_t offset);
// 0 or -errno. Reads all of it: -EIO where the file ends before.
int ReadAt(int fd, void* data, size_t bytes, uint64_t offset);
// 0 or -errno. After success a store into a mapping of the range cannot fail for want of disk space.
int Allocate(int fd, uint64_t offset, uint64_t bytes);

struct FileIdentity {
  uint64_t device, inode;
};
bool Identify(int fd, FileIdentity* identity);
// Whether the descriptor is of a regular file.
bool IsRegular(int fd);
// Whether an open file has no name left.
bool IsRemoved(int fd);

// RLIMIT_FSIZE: beyond it a write raises SIGXFSZ.
uint64_t FileSizeLimit();

// Shared mapping of a file, or null. Not inherited by a forked child, which must never write to its parent's file.
void* MapShared(int fd, uint64_t offset, size_t bytes);
// Zeroed private memory, or null.
void* MapPrivate(size_t bytes);
// Private memory that a forked child finds zeroed, or null where the kernel cannot (before 4.14).
void* MapWipedOnFork(size_t bytes);
void Unmap(void* at, size_t bytes);
// Makes private memory zero again, in place. False: it is as it was.
bool Empty(void* at, size_t bytes);
// Private memory of another size with the same contents, maybe elsewhere; what is added is zero. Null: `at` is as it
// was.
void* Remap(void* at, size_t bytes, size_t new_bytes);

// Whether the 8 bytes at `address` can be read. Asks the kernel to read them, so a wrong address does no harm.
bool IsReadable(uint64_t address);

uint32_t ThreadId();
void Yield();

// Sleeps while `*word` is `value`, until it is woken or the time is over; returns early at times.
void WaitWhile(std::atomic<uint32_t>* word, uint32_t value, uint32_t nanoseconds);
void WakeOne(std::atomic<uint32_t>* word);
void WakeAll(std::atomic<uint32_t>* word);

// Processor time that a thread of this process has used. False where there is no such thread.
bool ThreadCpuNs(uint32_t thread, uint64_t* nanoseconds);

// Bytes read into `buffer` (at most `capacity` - 1, then a zero), or -errno.
int ReadSmallFile(const char* path, char* buffer, size_t capacity);

}  // namespace vramtrack

#endif  // INTERPOSE_BASE_SYSTEM_CALL_H_
