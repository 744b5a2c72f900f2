// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUPTI_SUBSCRIPTION_H_
#define TESTS_SIMCUPTI_SUBSCRIPTION_H_

namespace vramtrack::simcupti {

// Ends the subscription, as cuptiFinalize does.
void ForgetSubscriber();

}  // namespace vramtrack::simcupti

#endif  // TESTS_SIMCUPTI_SUBSCRIPTION_H_
