// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/table_writer.h"

#include "analyzer/render/display_text.h"

namespace vramtrack {

TableProcess::TableProcess(const Trace& of)
    : trace(Printable(of.path())), pid(of.definitions().process.pid), rank(of.definitions().process.rank) {}

}  // namespace vramtrack
