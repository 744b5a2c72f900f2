// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ingest/unseen_text.h"

#include "proto/schema_constants.h"

namespace vramtrack {

const char* UnseenText(uint32_t reason) {
  switch (reason) {
    case schema::UNSEEN_DEEPBIND:
      return "was loaded with RTLD_DEEPBIND: its first calls of CUDA may be missing";
    case schema::UNSEEN_NAMESPACE:
      return "was loaded into a namespace of its own (dlmopen): its calls of CUDA are not seen";
    case schema::UNSEEN_LOOKUP:
      return "was looked up in a form that has no hook: calls of it are not seen";
    case schema::UNSEEN_THIRD_COPY:
      return "was looked up in more than two copies of its library: calls of the others are not seen";
    case schema::UNSEEN_BLOCKS:
      return "reports its allocator's blocks in an unknown way: only its driver memory is recorded";
    case schema::UNSEEN_GRAPH:
      return "has graph nodes of an unknown form: what its backward pass allocates is not tied to the forward pass";
    case schema::UNSEEN_PYTHON:
      return "has frames of an unknown form: stacks are native only";
    default:
      return "may have called CUDA unseen";
  }
}

}  // namespace vramtrack
