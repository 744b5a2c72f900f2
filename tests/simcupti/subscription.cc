// SPDX-License-Identifier: Apache-2.0
//
// The callback API as far as torch.profiler uses it: one subscriber, which is called back for launches of kernels.
#include "tests/simcupti/records.h"

#include <cupti.h>

#include <atomic>
#include <mutex>

#include "tests/simcupti/faults.h"

namespace vramtrack::simcupti {
namespace {

struct Subscriber {
  CUpti_CallbackFunc callback;
  void* data;
  bool runtime_calls;  // it wants to know of all of them
};

std::mutex mutex;
Subscriber the_one;  // its address is the handle
std::atomic<bool> subscribed{false};

CUpti_SubscriberHandle Handle() { return reinterpret_cast<CUpti_SubscriberHandle>(&the_one); }

CUptiResult ForSubscriber(CUpti_SubscriberHandle subscriber) {
  return subscribed.load() && subscriber == Handle() ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

Subscriber Copy() {
  std::lock_guard<std::mutex> lock(mutex);
  return subscribed.load() ? the_one : Subscriber{};
}

}  // namespace

void CallBackForLaunch() {
  for (const CUpti_ApiCallbackSite site : {CUPTI_API_ENTER, CUPTI_API_EXIT}) {
    const Subscriber subscriber = Copy();  // which may unsubscribe in its callback
    if (!subscriber.runtime_calls) return;
    CUpti_CallbackData data = {};
    data.callbackSite = site;
    data.functionName = "cudaLaunchKernel";
    subscriber.callback(subscriber.data, CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
                        &data);
  }
}

void ForgetSubscriber() { subscribed.store(false); }

#pragma GCC visibility push(default)
extern "C" {

CUptiResult CUPTIAPI cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback, void* data) {
  std::lock_guard<std::mutex> lock(mutex);
  if (Faults::Get().taken || subscribed.exchange(true)) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  the_one = {callback, data, false};
  *subscriber = Handle();
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiUnsubscribe(CUpti_SubscriberHandle subscriber) {
  const CUptiResult result = ForSubscriber(subscriber);
  if (result == CUPTI_SUCCESS) ForgetSubscriber();
  return result;
}

CUptiResult CUPTIAPI cuptiEnableCallback(uint32_t, CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain,
                                         CUpti_CallbackId) {
  return ForSubscriber(subscriber);
}

CUptiResult CUPTIAPI cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle subscriber,
                                       CUpti_CallbackDomain domain) {
  std::lock_guard<std::mutex> lock(mutex);
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API) the_one.runtime_calls = enable != 0;
  return ForSubscriber(subscriber);
}

CUptiResult CUPTIAPI cuptiGetCallbackName(CUpti_CallbackDomain, uint32_t, const char** name) {
  *name = "simulated";
  return CUPTI_SUCCESS;
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace vramtrack::simcupti
