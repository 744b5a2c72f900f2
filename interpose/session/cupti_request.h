// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_SESSION_CUPTI_REQUEST_H_
#define INTERPOSE_SESSION_CUPTI_REQUEST_H_

namespace vramtrack {

// VRAMTRACK_CUPTI=1 has the driver load libvramtrack_cupti.so, which is asked for when this library is loaded: the
// driver may read its variable at any time. Says once on stderr why that was not possible.
void ReportCuptiRequest();

// To be called when libvramtrack_cupti.so has come. Thread-safe.
void NoteCuptiTracer();

// Whether VRAMTRACK_CUPTI=1 is set for this program.
bool IsCuptiAsked();

}  // namespace vramtrack

#endif  // INTERPOSE_SESSION_CUPTI_REQUEST_H_
