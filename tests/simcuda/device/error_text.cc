// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/device/error_text.h"

namespace vramtrack::simcuda {

const char* ErrorText(int code) {
  switch (code) {
    case 0:
      return "no error";
    case 1:
      return "invalid argument";
    case 2:
      return "out of memory";
    case 3:
      return "initialization error";
    case 4:
      return "driver shutting down";
    case 9:
      return "invalid configuration argument";
    case 12:
      return "invalid pitch argument";
    case 13:
      return "invalid device symbol";
    case 21:
      return "invalid copy direction for memcpy";
    case 35:
      return "CUDA driver version is insufficient for CUDA runtime version";
    case 36:
      return "API call is not supported in the installed CUDA driver";
    case 52:
      return "__global__ function call is not configured";
    case 98:
      return "invalid device function";
    case 100:
      return "no CUDA-capable device is detected";
    case 101:
      return "invalid device ordinal";
    case 200:
      return "device kernel image is invalid";
    case 201:
      return "invalid device context";
    case 209:
      return "no kernel image is available for execution on the device";
    case 215:
      return "limit is not supported on this architecture";
    case 400:
      return "invalid resource handle";
    case 401:
      return "the operation cannot be performed in the present state";
    case 500:
      return "named symbol not found";
    case 600:
      return "device not ready";
    case 700:
      return "an illegal memory access was encountered";
    case 701:
      return "too many resources requested for launch";
    case 704:
      return "peer access is already enabled";
    case 705:
      return "peer access has not been enabled";
    case 712:
      return "part or all of the requested memory range is already mapped";
    case 713:
      return "pointer does not correspond to a registered memory region";
    case 719:
      return "unspecified launch failure";
    case 801:
      return "operation not supported";
    case 900:
      return "operation not permitted when stream is capturing";
    case 901:
      return "operation failed due to a previous error during capture";
    case 902:
      return "operation would result in a merge of separate capture sequences";
    case 903:
      return "capture was not ended in the same stream as it began";
    case 904:
      return "capturing stream has unjoined work";
    case 905:
      return "dependency created on uncaptured work in another stream";
    case 906:
      return "operation would make the legacy stream depend on a capturing blocking stream";
    case 907:
      return "operation not permitted on an event last recorded in a capturing stream";
    case 908:
      return "attempt to terminate a thread-local capture sequence from another thread";
    case 999:
      return "unknown error";
    default:
      return "error that the simulated device never returns";
  }
}

}  // namespace vramtrack::simcuda
