// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/json/diff_json.h"

#include "analyzer/render/json/json_fields.h"

namespace vramtrack {

std::string RenderDiffJson(const DiffReport& report) { return JsonLines(ToJson(report)); }

}  // namespace vramtrack
