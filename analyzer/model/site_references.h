// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_MODEL_SITE_REFERENCES_H_
#define ANALYZER_MODEL_SITE_REFERENCES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/model/fields.h"
#include "analyzer/model/frame.h"

namespace vramtrack {

// A visitor that finds references to sites, by means of the Fields functions.
template <class Found>
class SiteReferenceFields {
 public:
  explicit SiteReferenceFields(Found& found) : found_(found) {}

  template <class T>
  void operator()(uint32_t, const char*, T&& field, const char* = "") {
    Look(field);
  }

  template <class T>
  void Look(T& value) {
    if constexpr (std::is_same_v<T, ReportSiteIndex>) {
      if (!value.is_none()) found_(&value);
    } else if constexpr (field::kWraps<T>) {
      Look(value.value);
    } else if constexpr (std::is_class_v<T> && !std::is_same_v<T, std::string>) {
      Fields(*this, value);
    }
  }
  template <class T>
  void Look(std::optional<T>& value) {
    if (value) Look(*value);
  }
  template <class T>
  void Look(std::vector<T>& values) {
    if constexpr (std::is_class_v<T> && !std::is_same_v<T, std::string>) {
      for (T& value : values) Look(value);
    }
  }

 private:
  template <class Name, class T>
  void Look(field::NamedValues<Name, T>& wrapped) {
    for (auto& [name, value] : wrapped.value) Look(name);
  }
  // Fields of these types do not refer to sites.
  template <class T>
  void Look(field::Map<T>&) {}
  template <class T>
  void Look(field::Internal<T>&) {}
  void Look(field::NamedCount&) {}
  void Look(field::Interval&) {}
  void Look(field::WholeIf&) {}
  void Look(ReportFrame&) {}

  Found& found_;
};

// Calls `found(ReportSiteIndex* site)` for each reference to a site in `value`.
template <class T, class Found>
void ForEachSiteReference(T& value, Found found) {
  SiteReferenceFields<Found> fields(found);
  fields.Look(value);
}

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_SITE_REFERENCES_H_
