// SPDX-License-Identifier: Apache-2.0
//
// Reads a trace's definitions of Python code, Python stacks, joined stacks and names. The functions throw
// protozero::exception if a message is damaged.
#ifndef ANALYZER_INGEST_PYTHON_DEFINITIONS_H_
#define ANALYZER_INGEST_PYTHON_DEFINITIONS_H_

#include <cstdint>
#include <map>
#include <string>

#include "analyzer/ingest/traced_codes.h"
#include "analyzer/ingest/traced_stacks.h"
#include "proto/pbf_reader.h"

namespace vramtrack {

void ReadCode(protozero::pbf_reader in, TracedCodes* codes);
void ReadPythonStack(protozero::pbf_reader in, TracedStacks* stacks);
void ReadJoinedStack(protozero::pbf_reader in, TracedStacks* stacks);
// Adds a name. For a name in a domain, adds the ids of the name and of its domain to `*domains`.
void ReadName(protozero::pbf_reader in, std::map<uint32_t, std::string>* names, std::map<uint32_t, uint32_t>* domains);

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_PYTHON_DEFINITIONS_H_
