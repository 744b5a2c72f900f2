// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/html/packed.h"

#include "absl/strings/escaping.h"
#include "analyzer/base/gzip.h"

namespace vramtrack {

std::string GzipBase64(std::string_view text) {
  const std::string packed = Gzip(text);
  std::string encoded;
  absl::Base64Escape(absl::string_view(packed.data(), packed.size()), &encoded);
  return encoded;
}

}  // namespace vramtrack
