// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DEVICE_GENERATED_TABLES_H_
#define TESTS_SIMCUDA_DEVICE_GENERATED_TABLES_H_

#include <cstddef>

// Tables that generate_stubs.py writes for each simulated library, from the CUDA headers that it is built with.
extern "C" {

// Every function that the library exports, ordered by name.
struct SimcudaSymbol {
  const char* name;
  void* address;
};
extern const SimcudaSymbol simcuda_symbols[];
extern const size_t simcuda_symbol_count;

// The driver function `name` for the plain name `base` since a CUDA `version`. `per_thread` is its variant for
// per-thread default streams, or "" if it has none. Ordered by plain name, then by version.
struct SimcudaVariant {
  const char* base;
  int version;
  const char* name;
  const char* per_thread;
};
extern const SimcudaVariant simcuda_variants[];
extern const size_t simcuda_variant_count;

// The names of the error codes.
struct SimcudaError {
  int code;
  const char* name;
};
extern const SimcudaError simcuda_errors[];
extern const size_t simcuda_error_count;
}

#endif  // TESTS_SIMCUDA_DEVICE_GENERATED_TABLES_H_
