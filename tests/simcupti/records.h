// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUPTI_RECORDS_H_
#define TESTS_SIMCUPTI_RECORDS_H_

#include "tests/simcuda/driver/activity.h"

namespace vramtrack::simcupti {

// Makes records of what the simulated driver tells.
extern const simcuda::ActivitySink kRecordSink;

// Ends the subscription, as cuptiFinalize does.
void ForgetSubscriber();

// In the thread of a launch and inside it, without a lock: the subscriber may call whatever it likes.
void CallBackForLaunch();

}  // namespace vramtrack::simcupti

#endif  // TESTS_SIMCUPTI_RECORDS_H_
