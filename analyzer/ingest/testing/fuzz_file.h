// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_INGEST_TESTING_FUZZ_FILE_H_
#define ANALYZER_INGEST_TESTING_FUZZ_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace vramtrack {

// The trace file that a fuzzer's input stands for. The first byte says how: the file itself, or the contents of blocks
// or of a journal, around which a whole file is made, so that mutations get past the checksums.
std::string FileOfFuzzInput(const uint8_t* data, size_t size);

// Inputs to begin with: small traces in every form.
std::vector<std::string> FuzzSeeds();

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_TESTING_FUZZ_FILE_H_
