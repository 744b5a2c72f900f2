// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_EXPORT_CSV_WRITER_H_
#define ANALYZER_EXPORT_CSV_WRITER_H_

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "analyzer/export/table_rows.h"

namespace vramtrack {

// RFC 4180 with a line of names. What is null is empty; an empty text is "". Lists are joined by semicolons; times are
// those of ISO 8601.
std::unique_ptr<TableFormat> MakeCsvWriter(const std::vector<TableColumn>& columns,
                                           std::function<bool(std::string_view)> sink);

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_CSV_WRITER_H_
