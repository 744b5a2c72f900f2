// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_INGEST_TESTING_FUZZ_FILE_H_
#define ANALYZER_INGEST_TESTING_FUZZ_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace vramtrack {

// Returns the trace file for an input of a fuzzer. The first byte says what the input is: a whole file, or the contents
// of blocks or of a journal. For contents, a file with correct checksums is made around them, so that mutations get
// past the checks.
std::string FileOfFuzzInput(const uint8_t* data, size_t size);

// Returns inputs to start with: small traces in every form.
std::vector<std::string> FuzzSeeds();

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_TESTING_FUZZ_FILE_H_
