// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <thread>

#include "tests/simcuda/test/expect.h"

namespace vramtrack::simcuda {
namespace {

const With memory("SIMCUDA_MEMORY", "256M");

uint64_t GraphMemory(cudaGraphMemAttributeType attribute) {
  uint64_t value = 0;
  EXPECT_EQ(cudaDeviceGetGraphMemAttribute(0, attribute, &value), cudaSuccess);
  return value;
}

size_t NodeCount(cudaGraph_t graph) {
  size_t count = 0;
  EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &count), cudaSuccess);
  return count;
}

// Before CUDA 12 there was no parameter for flags, and two that told where it failed.
cudaError_t Instantiate(cudaGraphExec_t* exec, cudaGraph_t graph) {
#if CUDART_VERSION >= 12000
  return cudaGraphInstantiate(exec, graph, 0);
#else
  cudaGraphNode_t error_node = reinterpret_cast<cudaGraphNode_t>(1);
  char log[8] = "unset";
  const cudaError_t error = cudaGraphInstantiate(exec, graph, &error_node, log, sizeof(log));
  EXPECT_EQ(error_node, nullptr);
  EXPECT_STREQ(log, "");
  return error;
#endif
}

class GraphsTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_CUDA(cudaStreamCreate(&stream_)); }
  void TearDown() override {
    ASSERT_CUDA(cudaStreamDestroy(stream_));
    cudaGetLastError();
  }
  // A graph, launched once, that takes memory of one MiB and leaves it behind.
  void LeaveMemory(cudaGraph_t* graph, cudaGraphExec_t* exec, void** address) {
    ASSERT_CUDA(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
    ASSERT_CUDA(cudaMallocAsync(address, kMiB, stream_));
    ASSERT_CUDA(cudaStreamEndCapture(stream_, graph));
    ASSERT_CUDA(cudaGraphInstantiateWithFlags(exec, *graph, 0));
    ASSERT_CUDA(cudaGraphLaunch(*exec, stream_));
  }
  cudaStream_t stream_ = nullptr;
};

TEST_F(GraphsTest, captured_work_is_done_at_the_launch) {
  char* device = nullptr;
  ASSERT_CUDA(cudaMalloc(reinterpret_cast<void**>(&device), 100));
  ASSERT_CUDA(cudaMemset(device, 1, 100));
  ASSERT_CUDA(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
  cudaStreamCaptureStatus status;
  ASSERT_CUDA(cudaStreamIsCapturing(stream_, &status));
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  char received[2] = {};
  ASSERT_CUDA(cudaMemsetAsync(device, 2, 50, stream_));
  ASSERT_CUDA(cudaMemcpyAsync(received, device + 49, 2, cudaMemcpyDeviceToHost, stream_));
  cudaGraph_t graph = nullptr;
  ASSERT_CUDA(cudaStreamEndCapture(stream_, &graph));
  EXPECT_EQ(NodeCount(graph), 2u);
  EXPECT_EQ(received[0], 0);
  cudaGraphExec_t exec = nullptr;
  ASSERT_CUDA(cudaGraphInstantiateWithFlags(&exec, graph, 0));
  ASSERT_CUDA(cudaGraphDestroy(graph));
  ASSERT_CUDA(cudaGraphLaunch(exec, stream_));
  EXPECT_EQ(received[0], 2);
  EXPECT_EQ(received[1], 1);
  ASSERT_CUDA(cudaGraphExecDestroy(exec));
  EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaErrorInvalidValue);
  ASSERT_CUDA(cudaFree(device));
}

TEST_F(GraphsTest, memory_of_a_graph_is_taken_by_the_launch_and_kept_until_trimmed) {
  const size_t before = UsedBytes();
  ASSERT_CUDA(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
  void* address = nullptr;
  ASSERT_CUDA(cudaMallocAsync(&address, 5 * kMiB, stream_));
  ASSERT_CUDA(cudaMemsetAsync(address, 0, 5 * kMiB, stream_));
  ASSERT_CUDA(cudaFreeAsync(address, stream_));
  cudaGraph_t graph = nullptr;
  ASSERT_CUDA(cudaStreamEndCapture(stream_, &graph));
  EXPECT_EQ(NodeCount(graph), 3u);
  cudaGraphExec_t exec = nullptr;
  ASSERT_CUDA(cudaGraphInstantiateWithFlags(&exec, graph, 0));
  EXPECT_EQ(UsedBytes(), before);
  for (int launch = 0; launch < 3; ++launch) {
    ASSERT_CUDA(cudaGraphLaunch(exec, stream_));
    EXPECT_EQ(UsedBytes() - before, 6 * kMiB);
    EXPECT_EQ(GraphMemory(cudaGraphMemAttrUsedMemCurrent), 0u);
    EXPECT_EQ(GraphMemory(cudaGraphMemAttrReservedMemCurrent), 6 * kMiB);
  }
  EXPECT_EQ(GraphMemory(cudaGraphMemAttrUsedMemHigh), 5 * kMiB);
  ASSERT_CUDA(cudaDeviceGraphMemTrim(0));
  EXPECT_EQ(UsedBytes(), before);
  ASSERT_CUDA(cudaGraphExecDestroy(exec));
  ASSERT_CUDA(cudaGraphDestroy(graph));
}

TEST_F(GraphsTest, memory_that_a_graph_leaves_behind_is_freed_by_the_program) {
  const size_t before = UsedBytes();
  void* address = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  ASSERT_NO_FATAL_FAILURE(LeaveMemory(&graph, &exec, &address));
  EXPECT_EQ(GraphMemory(cudaGraphMemAttrUsedMemCurrent), kMiB);
  EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaErrorInvalidValue);
  ASSERT_CUDA(cudaMemset(address, 1, kMiB));
  ASSERT_CUDA(cudaFree(address));
  EXPECT_EQ(cudaFree(address), cudaErrorInvalidValue);
  ASSERT_CUDA(cudaGraphLaunch(exec, stream_));
  ASSERT_CUDA(cudaFreeAsync(address, stream_));
  ASSERT_CUDA(cudaGraphExecDestroy(exec));
  ASSERT_CUDA(cudaGraphDestroy(graph));
  EXPECT_EQ(UsedBytes(), before);
}

TEST_F(GraphsTest, memory_that_a_graph_leaves_behind_outlives_it) {
  const size_t before = UsedBytes();
  void* address = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  ASSERT_NO_FATAL_FAILURE(LeaveMemory(&graph, &exec, &address));
  ASSERT_CUDA(cudaGraphExecDestroy(exec));
  ASSERT_CUDA(cudaGraphDestroy(graph));
  ASSERT_CUDA(cudaMemset(address, 1, kMiB));
  EXPECT_EQ(GraphMemory(cudaGraphMemAttrUsedMemCurrent), kMiB);
  ASSERT_CUDA(cudaFreeAsync(address, stream_));
  EXPECT_EQ(UsedBytes(), before);
}

TEST_F(GraphsTest, an_allocation_breaks_a_global_capture_and_not_a_relaxed_thread) {
  void* address = nullptr;
  ASSERT_CUDA(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  ASSERT_CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, cudaStreamCaptureModeGlobal);
  ASSERT_CUDA(cudaMalloc(&address, 100));
  ASSERT_CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
  ASSERT_CUDA(cudaFree(nullptr));
  // Another thread's allocation counts as well.
  std::thread([] {
    void* other = nullptr;
    EXPECT_EQ(cudaMalloc(&other, 100), cudaErrorStreamCaptureUnsupported);
  }).join();
  EXPECT_EQ(cudaMemsetAsync(address, 0, 100, stream_), cudaErrorStreamCaptureInvalidated);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(graph, nullptr);
  ASSERT_CUDA(cudaFree(address));
}

TEST_F(GraphsTest, streams_join_a_capture_through_events) {
  cudaStream_t other;
  cudaEvent_t fork, join;
  ASSERT_CUDA(cudaStreamCreate(&other));
  ASSERT_CUDA(cudaEventCreate(&fork));
  ASSERT_CUDA(cudaEventCreate(&join));
  void* device = nullptr;
  ASSERT_CUDA(cudaMalloc(&device, 100));
  for (const bool joined : {true, false}) {
    ASSERT_CUDA(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
    ASSERT_CUDA(cudaMemsetAsync(device, 0, 100, stream_));
    ASSERT_CUDA(cudaEventRecord(fork, stream_));
    ASSERT_CUDA(cudaStreamWaitEvent(other, fork, 0));
    ASSERT_CUDA(cudaMemsetAsync(device, 1, 100, other));
    EXPECT_EQ(cudaEventQuery(fork), cudaErrorCapturedEvent);
    cudaGraph_t graph = nullptr;
    if (joined) {
      ASSERT_CUDA(cudaEventRecord(join, other));
      ASSERT_CUDA(cudaStreamWaitEvent(stream_, join, 0));
      EXPECT_EQ(cudaStreamEndCapture(other, &graph), cudaErrorStreamCaptureUnmatched);
      ASSERT_CUDA(cudaStreamEndCapture(stream_, &graph));
      EXPECT_EQ(NodeCount(graph), 2u);
      ASSERT_CUDA(cudaGraphDestroy(graph));
    } else {
      EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaErrorStreamCaptureUnjoined);
    }
    cudaStreamCaptureStatus status;
    ASSERT_CUDA(cudaStreamIsCapturing(other, &status));
    EXPECT_EQ(status, cudaStreamCaptureStatusNone);
  }
  ASSERT_CUDA(cudaFree(device));
  ASSERT_CUDA(cudaEventDestroy(fork));
  ASSERT_CUDA(cudaEventDestroy(join));
  ASSERT_CUDA(cudaStreamDestroy(other));
}

TEST_F(GraphsTest, nodes_made_by_hand_run_in_the_order_of_their_edges) {
  cudaGraph_t graph = nullptr;
  ASSERT_CUDA(cudaGraphCreate(&graph, 0));
  static std::string order;
  order.clear();
  const auto host_node = [](char* letter) {
    cudaHostNodeParams parameters = {};
    parameters.fn = [](void* data) { order.push_back(*static_cast<char*>(data)); };
    parameters.userData = letter;
    return parameters;
  };
  static char letters[] = "abc";
  cudaGraphNode_t nodes[3];
  for (int index = 0; index < 3; ++index) {
    const cudaHostNodeParams parameters = host_node(&letters[index]);
    ASSERT_CUDA(cudaGraphAddHostNode(&nodes[index], graph, nullptr, 0, &parameters));
  }
  const cudaGraphNode_t from[] = {nodes[2], nodes[1]}, to[] = {nodes[1], nodes[0]};
#if CUDART_VERSION >= 13000
  ASSERT_CUDA(cudaGraphAddDependencies(graph, from, to, nullptr, 2));
#else
  ASSERT_CUDA(cudaGraphAddDependencies(graph, from, to, 2));
#endif
  cudaGraph_t parent = nullptr;
  ASSERT_CUDA(cudaGraphCreate(&parent, 0));
  cudaGraphNode_t child;
  ASSERT_CUDA(cudaGraphAddChildGraphNode(&child, parent, nullptr, 0, graph));
  cudaGraphExec_t exec = nullptr;
  ASSERT_CUDA(Instantiate(&exec, parent));
  ASSERT_CUDA(cudaGraphLaunch(exec, stream_));
  EXPECT_EQ(order, "cba");
  cudaGraphNodeType type;
  ASSERT_CUDA(cudaGraphNodeGetType(child, &type));
  EXPECT_EQ(type, cudaGraphNodeTypeGraph);
  ASSERT_CUDA(cudaGraphExecDestroy(exec));
  ASSERT_CUDA(cudaGraphDestroy(parent));
  ASSERT_CUDA(cudaGraphDestroy(graph));
}

TEST_F(GraphsTest, a_user_object_ends_with_the_last_that_holds_it) {
  static int destroyed;
  destroyed = 0;
  cudaUserObject_t object = nullptr;
  ASSERT_CUDA(cudaUserObjectCreate(
      &object, &destroyed, [](void* count) { ++*static_cast<int*>(count); }, 1, cudaUserObjectNoDestructorSync));
  cudaGraph_t graph = nullptr;
  ASSERT_CUDA(cudaGraphCreate(&graph, 0));
  ASSERT_CUDA(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
  cudaGraphExec_t exec = nullptr;
  ASSERT_CUDA(Instantiate(&exec, graph));
  ASSERT_CUDA(cudaGraphDestroy(graph));
  EXPECT_EQ(destroyed, 0);
  ASSERT_CUDA(cudaGraphExecDestroy(exec));
  EXPECT_EQ(destroyed, 1);
}

}  // namespace
}  // namespace vramtrack::simcuda
