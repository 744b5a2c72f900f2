// SPDX-License-Identifier: Apache-2.0
//
// Each struct of a report has one list of its fields, a function
//     template <class Visitor> void Fields(Visitor& visit, T& t) { visit(1, "pid", t.pid, "its number"); … }
// which names each field once: its number in a summary's messages, its name in JSON, the field, and its description in
// docs/report.md. Numbers need not ascend. A field with number 0 is in no summary. A number is never reused for another
// field. JSON, JSON Schema, the tables of the documents, summaries and their schema, the Python classes, the names of
// sites and the checks of parsed data are all made from these lists: see render/json and summary/.
//
// A number that is not finite is null in JSON, and so is an optional without a value. An enum is represented by its
// name, a ReportSiteIndex by the id of its site or null. A field with another JSON form than that of its type is
// wrapped in one of the structs below.
#ifndef ANALYZER_MODEL_FIELDS_H_
#define ANALYZER_MODEL_FIELDS_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace vramtrack {

// Describes the struct, for the documents.
template <class T>
inline constexpr const char* kAbout = "";

namespace field {

// Becomes null if the text is empty or the number is 0.
template <class T>
struct OrNull {
  T& value;
};
template <class T>
OrNull(T&) -> OrNull<T>;

// An enum that has only some of its values here.
template <class E>
struct OneOf {
  E& value;
  std::initializer_list<E> choices;
};
template <class E>
OneOf(E&, std::initializer_list<E>) -> OneOf<E>;

// Two fields, which become {name, count}; null without a name. In summaries the count has the next number.
struct NamedCount {
  std::string& name;
  uint64_t& count;
};

// Two fields, which become [low, high]; null if not `known`. In summaries the second has the next number.
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

// Stores one column for each field of the elements, in an object of its own or, if `inlined`, among the fields of the
// enclosing struct.
template <class T>
struct Columns {
  std::vector<T>& value;
  bool inlined = false;
};
template <class T>
Columns(std::vector<T>&) -> Columns<T>;
template <class T>
Columns(std::vector<T>&, bool) -> Columns<T>;

// Becomes {name: value}.
template <class Pairs>
struct Map {
  Pairs& value;
};
template <class Pairs>
Map(Pairs&) -> Map<Pairs>;

// Becomes [{first: name, second: value}]. A name is a text or a site.
template <class Name, class T>
struct NamedValues {
  std::vector<std::pair<Name, T>>& value;
  const char* first;
  const char* second;
};
template <class Name, class T>
NamedValues(std::vector<std::pair<Name, T>>&, const char*, const char*) -> NamedValues<Name, T>;

// Puts the fields of the value among those of the enclosing struct; omits them if it is an optional without a value.
template <class T>
struct Inline {
  T& value;
};
template <class T>
Inline(T&) -> Inline<T>;

// Puts a field with this name, or the fields of a struct, into the sibling object `object`, which is created if it does
// not exist.
template <class T>
struct Within {
  const char* object;
  T& value;
};
template <class T>
Within(const char*, T&) -> Within<T>;

// Omitted if it is false or empty.
template <class T>
struct IfSet {
  T& value;
};
template <class T>
IfSet(T&) -> IfSet<T>;

// Stored in summaries only.
template <class T>
struct Internal {
  T& value;
};
template <class T>
Internal(T&) -> Internal<T>;

// True if T is one of the structs above that wrap one stored value, named `value`.
template <class T>
inline constexpr bool kWraps = false;
template <class T>
inline constexpr bool kWraps<OrNull<T>> = true;
template <class E>
inline constexpr bool kWraps<OneOf<E>> = true;
template <class T>
inline constexpr bool kWraps<Columns<T>> = true;
template <class T>
inline constexpr bool kWraps<Map<T>> = true;
template <class Name, class T>
inline constexpr bool kWraps<NamedValues<Name, T>> = true;
template <class T>
inline constexpr bool kWraps<Inline<T>> = true;
template <class T>
inline constexpr bool kWraps<Within<T>> = true;
template <class T>
inline constexpr bool kWraps<IfSet<T>> = true;
template <class T>
inline constexpr bool kWraps<Internal<T>> = true;

}  // namespace field

// A visitor of stored fields: it visits the fields that have a number, without their wrappers. Derived has `template
// <class T> void Plain(uint32_t number, const char* name, T& value)`.
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
