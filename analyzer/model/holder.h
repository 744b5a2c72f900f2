// SPDX-License-Identifier: Apache-2.0
//
// Who holds the live blocks, by Python names: what walks through the objects of the interpreter found.
#ifndef ANALYZER_MODEL_HOLDER_H_
#define ANALYZER_MODEL_HOLDER_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/enums.h"
#include "analyzer/model/fields.h"

namespace vramtrack {

struct ReportHolderShare {
  std::string path, type;
  std::optional<uint64_t> count;
  uint64_t bytes = 0, objects = 0;
  double share = 0;
};

template <>
inline constexpr const char* kAbout<ReportHolderShare> = "One of several holders";
template <class Visitor>
void Fields(Visitor& visit, ReportHolderShare& holder) {
  visit(1, "path", holder.path, "as in `holder`");
  visit(2, "type", field::OrNull{holder.type}, "Python type of the object that holds; `null` if it is unknown");
  visit(3, "count", holder.count, "its entries; `null` if it is not a container");
  visit(4, "bytes", holder.bytes, "that it holds");
  visit(5, "objects", holder.objects, "that it holds");
  visit(6, "share", holder.share, "of all bytes that were looked at, 0 to 1");
}

struct ReportHolder {
  std::string path;
  std::string container, type, file;
  std::optional<uint64_t> count, count_before, limit;
  std::optional<int64_t> step, step_before;
  double seconds = 0, seconds_before = 0;
  double share = 0;
  uint64_t bytes = 0, walked_bytes = 0, not_seen_bytes = 0, not_seen_objects = 0;
  HolderKind how = HolderKind::kUnknown;
  bool complete = true;
  uint64_t walk = 0;
  std::vector<ReportHolderShare> others;
  std::string explanation, hint;
};

template <>
inline constexpr const char* kAbout<ReportHolder> =
    "What holds the live blocks of a site, see [holders](report.md#who-holds-it)";
template <class Visitor>
void Fields(Visitor& visit, ReportHolder& holder) {
  visit(1, "path", holder.path,
        "the names that lead to the blocks, such as `__main__.history[*]['loss'].grad_fn`: of the path that explains "
        "most bytes");
  visit(2, "container", holder.container, "the part of the path that leads to the object which holds them all");
  visit(3, "type", field::OrNull{holder.type}, "Python type of this object; `null` if it is unknown");
  visit(4, "file", field::OrNull{holder.file}, "of the module or function where the path begins; `null` if unknown");
  visit(5, "count", holder.count, "entries of this object; `null` if it is not a container");
  visit(6, "count_before", holder.count_before,
        "its entries at the first walk that found it; `null` if no earlier walk did");
  visit(7, "step", holder.step, "of the walk; `null` without steps");
  visit(8, "step_before", holder.step_before, "of the walk that `count_before` is from");
  visit(9, "seconds", holder.seconds, "when the walk ended, since the recording began");
  visit(10, "seconds_before", holder.seconds_before, "the same of the walk that `count_before` is from; 0 without it");
  visit(11, "share", holder.share, "the part of `walked_bytes` that the path explains, 0 to 1");
  visit(12, "bytes", holder.bytes, "that the path explains");
  visit(13, "walked_bytes", holder.walked_bytes,
        "bytes that were live at the walk: of a leak only what earlier steps had left behind, of a whole leak if the "
        "site leads one");
  visit(14, "not_seen_bytes", holder.not_seen_bytes, "the part of them that the walk did not find");
  visit(15, "not_seen_objects", holder.not_seen_objects, "the same in objects");
  visit(16, "how", holder.how,
        "`entries` of a container, a `variable`, a kept autograd `graph`, a kept `traceback`, a `hook`, a reference "
        "`cycle` that waits for the collector, C or C++ code `outside` of Python; `several`: no path explains half of "
        "the bytes; `unknown`: the walk found none of them");
  visit(17, "complete", holder.complete, "whether the walk visited everything");
  visit(18, "walk", holder.walk, "number of the walk");
  visit(19, "others", holder.others, "what else holds at least 5 %, the most first");
  visit(20, "explanation", holder.explanation, "all of this as a sentence");
  visit(21, "hint", field::OrNull{holder.hint}, "what to change, only where it is certain; otherwise `null`");
  visit(22, "limit", holder.limit,
        "how many entries it takes at most: `maxlen` of a deque, `maxsize` of an `lru_cache` or a queue, or an "
        "attribute such as `capacity` of the object that owns it; `null` if nothing says so");
}

struct ReportWalk {
  WalkMoment moment = WalkMoment::kUnknown;
  std::optional<int64_t> step;
  double seconds = 0, duration_s = 0;
  uint64_t objects = 0, tensors = 0, blocks = 0;
  std::string stopped;
  uint32_t pid = 0;
};

template <>
inline constexpr const char* kAbout<ReportWalk> =
    "A walk through the objects of a process's Python interpreter, which paused it meanwhile";
template <class Visitor>
void Fields(Visitor& visit, ReportWalk& walk) {
  visit(1, "moment", walk.moment, "why it was made then");
  visit(2, "step", walk.step, "`null` without steps");
  visit(3, "seconds", walk.seconds, "when it ended, since the recording began");
  visit(4, "duration_s", walk.duration_s, "that it took");
  visit(5, "objects", walk.objects, "Python objects and graph nodes that it visited");
  visit(6, "tensors", walk.tensors, "tensors with memory on a device among them");
  visit(7, "blocks", walk.blocks, "blocks for which it found a holder");
  visit(8, "stopped", field::OrNull{walk.stopped}, "why it did not visit everything; `null` if it did");
  visit(0, "pid", walk.pid, "of the process");
}

struct ReportHeld {
  struct Category {
    std::string name;
    CategorySource source = CategorySource::kWalk;
    uint64_t bytes = 0, objects = 0;
  };
  struct Part {
    std::string name;
    uint64_t bytes = 0, objects = 0;
  };

  uint64_t walk = 0;
  std::optional<int64_t> step;
  double seconds = 0;
  bool complete = true;
  std::vector<Category> categories;
  std::vector<Part> saved, modules, shapes;
};

template <>
inline constexpr const char* kAbout<ReportHeld::Category> = "Blocks for one purpose";
template <class Visitor>
void Fields(Visitor& visit, ReportHeld::Category& category) {
  visit(1, "name", category.name,
        "`parameters`, `gradients`, `optimizer_state`, `buffers`, `saved_for_backward`, `named`: anything else that "
        "has a name; of what the walk did not find, the [category](ledger.md#what-memory-is-for) of its site");
  visit(2, "source", category.source,
        "`walk`: it found these blocks; `inferred`: it did not, the category is that of their call stacks");
  visit(3, "bytes", category.bytes);
  visit(4, "objects", category.objects);
}

template <>
inline constexpr const char* kAbout<ReportHeld::Part> = "A named part";
template <class Visitor>
void Fields(Visitor& visit, ReportHeld::Part& part) {
  visit(1, "name", part.name);
  visit(2, "bytes", part.bytes);
  visit(3, "objects", part.objects);
}

template <>
inline constexpr const char* kAbout<ReportHeld> =
    "What the live blocks of a device were for, as the last [walk](report.md#who-holds-it) found it";
template <class Visitor>
void Fields(Visitor& visit, ReportHeld& held) {
  visit(1, "walk", held.walk, "number of the walk");
  visit(2, "step", held.step, "of the walk; `null` without steps");
  visit(3, "seconds", held.seconds, "when it ended, since the recording began");
  visit(4, "complete", held.complete, "whether it visited everything");
  visit(5, "categories", held.categories, "the most bytes first, what the walk found before what it did not");
  visit(6, "saved", held.saved,
        "what is saved for backward, by type of graph node, the most first; at most 20. What has another name, such as "
        "a local variable, is left out");
  visit(7, "modules", held.modules,
        "parameters, gradients and buffers by the module that owns them, such as `model.transformer.h.3.mlp.c_fc`, the "
        "most first; at most 50");
  visit(8, "shapes", held.shapes,
        "what the walk found, by data type and sizes of the tensor, such as `float32 [64, 256]`, the most first; at "
        "most 20");
}

struct ReportModuleMemory {
  struct Part {
    std::vector<std::string> module;
    std::string category;
    CategorySource source = CategorySource::kWalk;
    std::string name;
    uint64_t bytes = 0, objects = 0;
  };

  uint64_t walk = 0;
  WalkMoment moment = WalkMoment::kUnknown;
  std::optional<int64_t> step;
  double seconds = 0;
  bool complete = true;
  uint64_t live = 0;
  std::vector<Part> parts;
  uint64_t other_parts = 0, other_bytes = 0;
};

template <>
inline constexpr const char* kAbout<ReportModuleMemory::Part> = "Blocks of one module, or of none, for one purpose";
template <class Visitor>
void Fields(Visitor& visit, ReportModuleMemory::Part& part) {
  visit(
      1, "module", part.module,
      "the names that lead to the module, such as `[\"model\", \"transformer\", \"h\", \"3\", \"mlp\"]`; empty if the "
      "blocks are reached through no module");
  visit(2, "category", part.category, "as in [`held`](#held)");
  visit(3, "source", part.source, "as in [`held`](#held)");
  visit(4, "name", part.name,
        "of what the module does not name: the variable that holds it, or the type of the graph node that saved it; "
        "empty if there is none");
  visit(5, "bytes", part.bytes);
  visit(6, "objects", part.objects);
}

template <>
inline constexpr const char* kAbout<ReportModuleMemory> =
    "The live bytes of a device by module, at the [walk](report.md#who-holds-it) nearest to its peak: the one at which "
    "most was live. It is the peak only if `live` is that of the peak";
template <class Visitor>
void Fields(Visitor& visit, ReportModuleMemory& memory) {
  visit(1, "walk", memory.walk, "number of the walk");
  visit(2, "moment", memory.moment, "why it was made then");
  visit(3, "step", memory.step, "of the walk; `null` without steps");
  visit(4, "seconds", memory.seconds, "when it ended, since the recording began");
  visit(5, "complete", memory.complete, "whether it visited everything");
  visit(6, "live", memory.live, "bytes that were live then, the sum of all parts");
  visit(7, "parts", memory.parts, "the most bytes first; at most 1,000");
  visit(8, "other_parts", memory.other_parts, "that are not listed");
  visit(9, "other_bytes", memory.other_bytes, "in these");
}

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_HOLDER_H_
