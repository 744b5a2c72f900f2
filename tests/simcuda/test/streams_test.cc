// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <string>

#include "tests/simcuda/test/expect.h"

namespace vramtrack::simcuda {
namespace {

const With delay("SIMCUDA_EVENT_DELAY_US", "50000");

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

TEST(StreamsTest, an_event_is_late_and_its_stream_busy_until_then) {
  cudaStream_t stream, other;
  cudaEvent_t event;
  ASSERT_CUDA(cudaStreamCreate(&stream));
  ASSERT_CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  ASSERT_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
  const auto start = Clock::now();
  ASSERT_CUDA(cudaEventRecord(event, stream));
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamQuery(other), cudaSuccess);
  ASSERT_CUDA(cudaStreamWaitEvent(other, event, 0));
  EXPECT_EQ(cudaStreamQuery(other), cudaErrorNotReady);
  ASSERT_CUDA(cudaEventSynchronize(event));
  EXPECT_GE(Clock::now() - start, milliseconds(50));
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess);
  ASSERT_CUDA(cudaEventDestroy(event));
  ASSERT_CUDA(cudaStreamDestroy(stream));
  ASSERT_CUDA(cudaStreamDestroy(other));
  cudaGetLastError();
}

TEST(StreamsTest, events_of_one_stream_follow_one_another) {
  cudaEvent_t first, second;
  ASSERT_CUDA(cudaEventCreate(&first));
  ASSERT_CUDA(cudaEventCreate(&second));
  ASSERT_CUDA(cudaEventRecord(first, nullptr));
  ASSERT_CUDA(cudaEventRecord(second, nullptr));
  const auto start = Clock::now();
  float milliseconds_between = 0;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds_between, first, second), cudaErrorNotReady);
  ASSERT_CUDA(cudaDeviceSynchronize());
  EXPECT_GE(Clock::now() - start, milliseconds(90));
  ASSERT_CUDA(cudaEventElapsedTime(&milliseconds_between, first, second));
  EXPECT_NEAR(milliseconds_between, 50, 1);
  ASSERT_CUDA(cudaEventDestroy(first));
  ASSERT_CUDA(cudaEventDestroy(second));
  cudaGetLastError();
}

TEST(StreamsTest, a_handle_is_no_good_after_its_end) {
  cudaStream_t stream;
  cudaEvent_t event;
  ASSERT_CUDA(cudaStreamCreate(&stream));
  ASSERT_CUDA(cudaStreamDestroy(stream));
  EXPECT_EQ(cudaStreamDestroy(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
  ASSERT_CUDA(cudaEventCreate(&event));
  ASSERT_CUDA(cudaEventDestroy(event));
  EXPECT_EQ(cudaEventRecord(event, nullptr), cudaErrorInvalidResourceHandle);
  cudaGetLastError();
}

TEST(StreamsTest, callbacks_run_in_order) {
  std::string called;
  const auto append = [](void* text) { static_cast<std::string*>(text)->push_back('a'); };
  ASSERT_CUDA(cudaLaunchHostFunc(nullptr, append, &called));
  ASSERT_CUDA(cudaStreamAddCallback(
      cudaStreamPerThread,
      [](cudaStream_t, cudaError_t status, void* text) {
        EXPECT_EQ(status, cudaSuccess);
        static_cast<std::string*>(text)->push_back('b');
      },
      &called, 0));
  EXPECT_EQ(called, "ab");
}

}  // namespace
}  // namespace vramtrack::simcuda
