// SPDX-License-Identifier: Apache-2.0
// Memory of one process in another. The parent of both never touches CUDA, so that they can be forked.
#include <cuda.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>

#include "tests/simcuda/test/expect.h"

namespace vramtrack::simcuda {
namespace {

constexpr size_t kPage = 2 * kMiB;

// Two processes, with a connection between them; both must end well.
void RunTwo(const std::function<bool(int)>& exporter, const std::function<bool(int)>& importer) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  pid_t children[2];
  for (int index = 0; index < 2; ++index) {
    children[index] = fork();
    ASSERT_GE(children[index], 0);
    if (children[index] == 0) _exit((index == 0 ? exporter : importer)(ends[index]) ? 0 : 1);
  }
  for (pid_t child : children) {
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  close(ends[0]);
  close(ends[1]);
}

template <typename Value>
bool Send(int connection, const Value& value) {
  return write(connection, &value, sizeof(value)) == static_cast<ssize_t>(sizeof(value));
}

template <typename Value>
bool Receive(int connection, Value* value) {
  return read(connection, value, sizeof(*value)) == static_cast<ssize_t>(sizeof(*value));
}

bool SendFile(int connection, int file) {
  char byte = 0, control[CMSG_SPACE(sizeof(int))] = {};
  iovec data = {&byte, 1};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(header), &file, sizeof(file));
  return sendmsg(connection, &message, 0) == 1;
}

int ReceiveFile(int connection) {
  char byte = 0, control[CMSG_SPACE(sizeof(int))] = {};
  iovec data = {&byte, 1};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  int file = -1;
  if (recvmsg(connection, &message, 0) == 1) memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(file));
  return file;
}

// The importer turns a 1 at the end of the memory into a 2.
constexpr size_t kBytes = 3 * kMiB;

bool FillAndWait(int connection, char* memory) {
  char answer = 0, byte = 0;
  return cudaMemset(memory, 1, kBytes) == cudaSuccess && Send(connection, byte) && Receive(connection, &answer) &&
         cudaMemcpy(&byte, memory + kBytes - 1, 1, cudaMemcpyDefault) == cudaSuccess && byte == 2;
}

bool ChangeAndTell(int connection, char* memory) {
  char byte = 0;
  return Receive(connection, &byte) && cudaMemcpy(&byte, memory + kBytes - 1, 1, cudaMemcpyDefault) == cudaSuccess &&
         byte == 1 && cudaMemset(memory + kBytes - 1, 2, 1) == cudaSuccess && Send(connection, byte);
}

TEST(ProcessesTest, an_allocation_is_opened_in_another_process) {
  RunTwo(
      [](int connection) {
        char* memory = nullptr;
        cudaIpcMemHandle_t handle;
        // Not at the beginning of the device.
        if (cudaMalloc(reinterpret_cast<void**>(&memory), 5 * kMiB) != cudaSuccess ||
            cudaMalloc(reinterpret_cast<void**>(&memory), kBytes) != cudaSuccess) {
          return false;
        }
        return cudaIpcGetMemHandle(&handle, memory) == cudaSuccess && Send(connection, handle) &&
               FillAndWait(connection, memory);
      },
      [](int connection) {
        cudaIpcMemHandle_t handle;
        char *memory = nullptr, *again = nullptr;
        if (!Receive(connection, &handle)) return false;
        const size_t before = UsedBytes();
        return cudaIpcOpenMemHandle(reinterpret_cast<void**>(&memory), handle, 1) == cudaSuccess &&
               cudaIpcOpenMemHandle(reinterpret_cast<void**>(&again), handle, 1) == cudaSuccess && memory == again &&
               ChangeAndTell(connection, memory) && UsedBytes() == before &&
               cudaIpcCloseMemHandle(memory) == cudaSuccess && cudaIpcCloseMemHandle(memory) == cudaSuccess &&
               cudaIpcCloseMemHandle(memory) == cudaErrorInvalidValue;
      });
}

TEST(ProcessesTest, an_event_is_opened_in_another_process) {
  RunTwo(
      [](int connection) {
        cudaEvent_t event;
        cudaIpcEventHandle_t handle;
        return cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventInterprocess) == cudaSuccess &&
               cudaIpcGetEventHandle(&handle, event) == cudaSuccess && Send(connection, handle);
      },
      [](int connection) {
        cudaEvent_t event;
        cudaIpcEventHandle_t handle;
        return Receive(connection, &handle) && cudaIpcOpenEventHandle(&event, handle) == cudaSuccess &&
               cudaStreamWaitEvent(nullptr, event, 0) == cudaSuccess && cudaEventQuery(event) == cudaSuccess;
      });
}

char* MapHandle(CUmemGenericAllocationHandle handle) {
  CUdeviceptr address = 0;
  CUmemAccessDesc access = {};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  const bool done = cuMemAddressReserve(&address, 2 * kPage, 0, 0, 0) == CUDA_SUCCESS &&
                    cuMemMap(address, 2 * kPage, 0, handle, 0) == CUDA_SUCCESS &&
                    cuMemSetAccess(address, 2 * kPage, &access, 1) == CUDA_SUCCESS;
  return done ? reinterpret_cast<char*>(address) : nullptr;
}

TEST(ProcessesTest, memory_without_an_address_is_imported_by_another_process) {
  RunTwo(
      [](int connection) {
        CUmemAllocationProp properties = {};
        properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        CUmemGenericAllocationHandle handle = 0;
        int file = -1;
        if (cudaFree(nullptr) != cudaSuccess || cuMemCreate(&handle, 2 * kPage, &properties, 0) != CUDA_SUCCESS ||
            cuMemExportToShareableHandle(&file, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0) != CUDA_SUCCESS) {
          return false;
        }
        char* memory = MapHandle(handle);
        return memory != nullptr && SendFile(connection, file) && FillAndWait(connection, memory);
      },
      [](int connection) {
        const int file = ReceiveFile(connection);
        CUmemGenericAllocationHandle handle = 0;
        if (cudaFree(nullptr) != cudaSuccess ||
            cuMemImportFromShareableHandle(&handle, reinterpret_cast<void*>(intptr_t{file}),
                                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != CUDA_SUCCESS) {
          return false;
        }
        char* memory = MapHandle(handle);
        return memory != nullptr && UsedBytes() == 0 && ChangeAndTell(connection, memory) &&
               cuMemRelease(handle) == CUDA_SUCCESS;
      });
}

TEST(ProcessesTest, what_a_process_exported_is_gone_with_it) {
  RunTwo(
      [](int connection) {
        char* memory = nullptr;
        cudaIpcMemHandle_t handle;
        return cudaMalloc(reinterpret_cast<void**>(&memory), kBytes) == cudaSuccess &&
               cudaIpcGetMemHandle(&handle, memory) == cudaSuccess && Send(connection, handle) &&
               shutdown(connection, SHUT_RDWR) == 0;
      },
      [](int connection) {
        cudaIpcMemHandle_t handle;
        char *memory = nullptr, byte;
        if (!Receive(connection, &handle) || Receive(connection, &byte)) return false;
        // Its memory ends some time after the connection.
        for (int tries = 0; tries < 1000; ++tries) {
          const cudaError_t error = cudaIpcOpenMemHandle(reinterpret_cast<void**>(&memory), handle, 1);
          if (error == cudaErrorInvalidValue) return true;
          if (error != cudaSuccess || cudaIpcCloseMemHandle(memory) != cudaSuccess) return false;
          usleep(10000);
        }
        return false;
      });
}

}  // namespace
}  // namespace vramtrack::simcuda
