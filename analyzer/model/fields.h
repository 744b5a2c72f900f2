// SPDX-License-Identifier: Apache-2.0
//
// One list of fields for each struct of a report. A function
//     template <class Visitor> void Fields(Visitor& visit, T& t) { visit(1, "pid", t.pid, "its number"); … }
// names each field once: its number in a summary's messages (ascending numbers are not needed, 0: it is in no summary;
// a number is never used again for something else), its name in JSON, the field, and what it says, as docs/report.md
// has it. JSON, JSON Schema, the tables of the documents, summaries and their schema, the Python classes, the names of
// sites and checks of what was read are all made from these lists: see render/json and summary/.
//
// A number is null in JSON where it is not finite; an optional without a value is null; an enum is its name.
// A field whose JSON is not that of its type is wrapped in one of the structs below.
#ifndef ANALYZER_MODEL_FIELDS_H_
#define ANALYZER_MODEL_FIELDS_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace vramtrack {

// What a struct is, for the documents.
template <class T>
inline constexpr const char* kAbout = "";

namespace field {

// null for an empty text, or for 0.
template <class T>
struct OrNull {
  T& value;
};
template <class T>
OrNull(T&) -> OrNull<T>;

// The site that is meant: in the findings of a process its index in decimal digits, in a report its id; null for none.
struct SiteReference {
  std::string& value;
};

struct SiteReferences {
  std::vector<std::string>& value;
};

// One of these texts. `or_null`: null for an empty one.
struct OneOf {
  std::string& value;
  std::initializer_list<const char*> choices;
  bool or_null = false;
};

// {name, count}, null without a name. In summaries the count has the next number.
struct NamedCount {
  std::string& name;
  uint64_t& count;
};

// Two fields: [low, high], null if it is not `known`. In summaries the second has the next number.
struct Interval {
  double& low;
  double& high;
  bool or_null = false, known = true;
};

// A number that is an integer in JSON if it is `whole`.
struct WholeIf {
  double& value;
  bool whole;
};

// A column for each field of the elements, in an object of its own or among the fields of what holds them.
template <class T>
struct Columns {
  std::vector<T>& value;
  bool inlined = false;
};
template <class T>
Columns(std::vector<T>&) -> Columns<T>;
template <class T>
Columns(std::vector<T>&, bool) -> Columns<T>;

// {name: value}.
template <class Pairs>
struct Map {
  Pairs& value;
};
template <class Pairs>
Map(Pairs&) -> Map<Pairs>;

// [{first: name, second: value}]. `of_sites`: the names are SiteReferences.
template <class T>
struct NamedValues {
  std::vector<std::pair<std::string, T>>& value;
  const char* first;
  const char* second;
  bool of_sites = false;
};
template <class T>
NamedValues(std::vector<std::pair<std::string, T>>&, const char*, const char*) -> NamedValues<T>;
template <class T>
NamedValues(std::vector<std::pair<std::string, T>>&, const char*, const char*, bool) -> NamedValues<T>;

// Its fields are among those of what holds it; absent if it is an optional without a value.
template <class T>
struct Inline {
  T& value;
};
template <class T>
Inline(T&) -> Inline<T>;

// Within the object `object` beside it, which is made if there is none: a field of that name, or the fields of a
// struct.
template <class T>
struct Within {
  const char* object;
  T& value;
};
template <class T>
Within(const char*, T&) -> Within<T>;

// Absent while it is false.
struct IfTrue {
  bool& value;
};

// In summaries only.
template <class T>
struct Internal {
  T& value;
};
template <class T>
Internal(T&) -> Internal<T>;

// Whether T is one of the structs above that wrap one stored value, named `value`.
template <class T>
inline constexpr bool kWraps = false;
template <class T>
inline constexpr bool kWraps<OrNull<T>> = true;
template <>
inline constexpr bool kWraps<SiteReference> = true;
template <>
inline constexpr bool kWraps<SiteReferences> = true;
template <>
inline constexpr bool kWraps<OneOf> = true;
template <class T>
inline constexpr bool kWraps<Columns<T>> = true;
template <class T>
inline constexpr bool kWraps<Map<T>> = true;
template <class T>
inline constexpr bool kWraps<NamedValues<T>> = true;
template <class T>
inline constexpr bool kWraps<Inline<T>> = true;
template <class T>
inline constexpr bool kWraps<Within<T>> = true;
template <>
inline constexpr bool kWraps<IfTrue> = true;
template <class T>
inline constexpr bool kWraps<Internal<T>> = true;

}  // namespace field

// A visitor of stored fields: it gets the fields that have a number, without their wrappers.
// Derived has `template <class T> void Plain(uint32_t number, const char* name, T& value)`.
template <class Derived>
class PlainFields {
 public:
  template <class T>
  void operator()(uint32_t number, const char* name, T&& value, const char* = "") {
    if (number != 0) Unwrap(number, name, value);
  }

 private:
  template <class T>
  void Tell(uint32_t number, const char* name, T& value) {
    static_cast<Derived*>(this)->Plain(number, name, value);
  }
  template <class T>
  void Unwrap(uint32_t number, const char* name, T& value) {
    if constexpr (field::kWraps<T>) {
      Tell(number, name, value.value);
    } else {
      Tell(number, name, value);
    }
  }
  void Unwrap(uint32_t number, const char* name, field::NamedCount& wrapped) {
    Tell(number, name, wrapped.name);
    Tell(number + 1, (name + std::string("_count")).c_str(), wrapped.count);
  }
  void Unwrap(uint32_t number, const char* name, field::Interval& wrapped) {
    Tell(number, (name + std::string("_low")).c_str(), wrapped.low);
    Tell(number + 1, (name + std::string("_high")).c_str(), wrapped.high);
  }
};

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_FIELDS_H_
