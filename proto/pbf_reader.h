// SPDX-License-Identifier: Apache-2.0
//
// protozero, reading files that may be damaged: a field of the wrong type is an error like any other, in every build.
// Include this instead of protozero's own headers.
#ifndef PROTO_PBF_READER_H_
#define PROTO_PBF_READER_H_

#include <protozero/exception.hpp>

#ifdef protozero_assert
#error "protozero was included without this header"
#endif
#define protozero_assert(condition)                                         \
  do {                                                                      \
    if (!(condition)) throw ::protozero::unknown_pbf_wire_type_exception(); \
  } while (false)

#include <protozero/pbf_reader.hpp>
// After it, with the same assertions.
#include <protozero/pbf_writer.hpp>

#endif  // PROTO_PBF_READER_H_
