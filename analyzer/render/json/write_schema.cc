// SPDX-License-Identifier: Apache-2.0
//
// Prints docs/report.schema.json or docs/diff.schema.json. Usage: write_schema report|diff
#include <cstdio>
#include <cstring>

#include "analyzer/render/json/json_schema.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const bool diff = std::strcmp(argv[1], "diff") == 0;
  std::fputs((diff ? vramtrack::DiffSchema() : vramtrack::ReportSchema()).c_str(), stdout);
  return 0;
}
