// SPDX-License-Identifier: Apache-2.0
//
// protozero's writer, for files that may include its reader as well: see proto/pbf_reader.h.
#ifndef ANALYZER_SUMMARY_PBF_WRITER_H_
#define ANALYZER_SUMMARY_PBF_WRITER_H_

#include "proto/pbf_reader.h"
// After it.
#include <protozero/pbf_writer.hpp>

#endif  // ANALYZER_SUMMARY_PBF_WRITER_H_
