// SPDX-License-Identifier: Apache-2.0
// Prints the text of summary.proto.
#include <cstdio>

#include "analyzer/summary/schema_text.h"

int main() { return std::fputs(vramtrack::SummaryProto().c_str(), stdout) < 0; }
