// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_SESSION_CUPTI_REQUEST_H_
#define INTERPOSE_SESSION_CUPTI_REQUEST_H_

namespace vramtrack {

// With VRAMTRACK_CUPTI=1 the driver loads libvramtrack_cupti.so. This library sets the variable that requests it when
// it is loaded itself, because the driver may read it at any time. ReportCuptiRequest prints to stderr, once, why the
// request was not possible.
void ReportCuptiRequest();

// Notes that libvramtrack_cupti.so has been loaded. Thread-safe.
void NoteCuptiTracer();

// Returns whether VRAMTRACK_CUPTI=1 is set for this program.
bool IsCuptiAsked();

}  // namespace vramtrack

#endif  // INTERPOSE_SESSION_CUPTI_REQUEST_H_
