// SPDX-License-Identifier: Apache-2.0
//
// The callback API as far as torch.profiler uses it: one subscriber, and none of its callbacks is ever called.
#include "tests/simcupti/subscription.h"

#include <cupti.h>

#include <atomic>

#include "tests/simcupti/faults.h"

namespace vramtrack::simcupti {
namespace {

char the_one;  // its address is the handle
std::atomic<bool> subscribed{false};

CUpti_SubscriberHandle Handle() { return reinterpret_cast<CUpti_SubscriberHandle>(&the_one); }

CUptiResult ForSubscriber(CUpti_SubscriberHandle subscriber) {
  return subscribed.load() && subscriber == Handle() ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

}  // namespace

void ForgetSubscriber() { subscribed.store(false); }

#pragma GCC visibility push(default)
extern "C" {

CUptiResult CUPTIAPI cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc, void*) {
  if (Faults::Get().taken || subscribed.exchange(true)) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
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

CUptiResult CUPTIAPI cuptiEnableDomain(uint32_t, CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain) {
  return ForSubscriber(subscriber);
}

CUptiResult CUPTIAPI cuptiGetCallbackName(CUpti_CallbackDomain, uint32_t, const char** name) {
  *name = "simulated";
  return CUPTI_SUCCESS;
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace vramtrack::simcupti
