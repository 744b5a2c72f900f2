// SPDX-License-Identifier: Apache-2.0
#include "analyzer/holders/holder_choice.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

namespace vramtrack {
namespace {

// An object that holds less than this part of what the one before it holds is one of several.
constexpr double kMain = 0.5;
// Beyond the object that holds all, a step must be common to nearly all of its bytes.
constexpr double kNearlyAll = 0.9;

struct Node {
  using Key = std::tuple<uint32_t, std::string, std::string>;

  PathStep step;
  uint64_t bytes = 0, objects = 0;
  std::map<Key, std::unique_ptr<Node>> children;

  Node* Child(const PathStep& next) {
    // The type of a graph's last node differs from entry to entry.
    std::unique_ptr<Node>& child = children[{next.step, next.name, IsRoot(next.step) ? next.file : ""}];
    if (child == nullptr) {
      child = std::make_unique<Node>();
      child->step = next;
    }
    child->step.repeated |= next.repeated;
    return child.get();
  }
};

// What a step that stands for both is known to lead to.
void JoinSteps(PathStep* into, const PathStep& from) {
  if (into->type != from.type) into->type.clear();
  if (from.entries > into->entries) into->limit = from.limit;
  into->entries = std::max(into->entries, from.entries);
  into->objects += from.objects;
  into->path = HolderPathIndex::None();
}

void MergeInto(Node* into, Node* from) {
  into->bytes += from->bytes;
  into->objects += from->objects;
  for (auto& [key, child] : from->children) {
    std::unique_ptr<Node>& at = into->children[key];
    if (at == nullptr) {
      at = std::move(child);
    } else {
      JoinSteps(&at->step, child->step);
      MergeInto(at.get(), child.get());
    }
  }
}

std::unique_ptr<Node> CopyOf(const Node& node) {
  auto copy = std::make_unique<Node>();
  copy->step = node.step;
  copy->bytes = node.bytes;
  copy->objects = node.objects;
  for (const auto& [key, child] : node.children) copy->children[key] = CopyOf(*child);
  return copy;
}

// All entries of a container as one, which takes over what they lead to.
std::unique_ptr<Node> MergedEntries(Node* container) {
  auto merged = std::make_unique<Node>();
  bool first = true;
  for (auto& [key, child] : container->children) {
    if (!IsEntry(child->step.step)) continue;
    if (first) {
      merged->step = child->step;
      first = false;
    } else {
      JoinSteps(&merged->step, child->step);
    }
    MergeInto(merged.get(), child.get());
  }
  merged->step.step = schema::HOLDER_ENTRY;
  merged->step.name.clear();
  return merged;
}

struct Children {
  Node* best = nullptr;
  uint64_t entry_bytes = 0;
  size_t entries = 0;
  bool many = false;  // an entry stands for many
};

Children Look(const Node& node) {
  Children found;
  for (const auto& [key, child] : node.children) {
    if (found.best == nullptr || child->bytes > found.best->bytes) found.best = child.get();
    if (!IsEntry(child->step.step)) continue;
    found.entry_bytes += child->bytes;
    ++found.entries;
    found.many |= child->step.step == schema::HOLDER_ENTRY;
  }
  return found;
}

// The way down a tree. It owns the nodes that stand for several.
class Descent {
 public:
  explicit Descent(Node* root) : at_(root) {}

  ChosenHolder Run() {
    EnterVariable();
    while (Down()) {
    }
    if (container_ == nullptr && small_ != nullptr) BackToSmall();
    chosen_.bytes = at_->bytes;
    chosen_.objects = at_->objects;
    if (container_ == nullptr) FindHolder();
    return std::move(chosen_);
  }

 private:
  // The variable that holds most, of all modules and functions; or an object that is in none.
  void EnterVariable() {
    Node* best = nullptr;
    Node* scope = nullptr;
    for (const auto& [key, top] : at_->children) {
      uint64_t in_variables = 0;
      for (const auto& [name, variable] : top->children) {
        if (!HasVariables(top->step.step)) break;
        in_variables += variable->bytes;
        if (best != nullptr && best->bytes >= variable->bytes) continue;
        scope = top.get();
        best = variable.get();
      }
      if (in_variables > 0 || (best != nullptr && best->bytes >= top->bytes)) continue;
      scope = nullptr;
      best = top.get();
    }
    if (scope != nullptr) Enter(scope);
    if (best != nullptr) Enter(best);
  }

  static bool HasVariables(uint32_t step) { return step == schema::HOLDER_MODULE || step == schema::HOLDER_FRAME; }

  bool Down() {
    const Children children = Look(*at_);
    if (children.best == nullptr) return false;
    // What one sort of graph node saved is only a part of what the graph keeps.
    if (children.best->step.step == schema::HOLDER_SAVED && children.best->bytes < at_->bytes) return false;
    const bool merge = (children.many || children.entries >= kSeveralEntries) &&
                       (children.best->step.step == schema::HOLDER_ENTRY ||
                        ShareOfBytes(children.best->bytes, at_->bytes) < kNearlyAll);
    if (container_ != nullptr) {
      if (ShareOfBytes(children.best->bytes, chosen_.holder_bytes) >= kNearlyAll) return Enter(children.best);
      if (children.entries > 1 && ShareOfBytes(children.entry_bytes, chosen_.holder_bytes) >= kNearlyAll) {
        return Enter(Own(MergedEntries(at_)));
      }
      return false;
    }
    const bool entries_hold = ShareOfBytes(children.entry_bytes, at_->bytes) >= kMain;
    const bool is_small = merge ? at_->step.entries > 0 && at_->step.entries < kSeveralEntries
                                : children.entries > 1 && ShareOfBytes(children.best->bytes, at_->bytes) < kMain;
    if (entries_hold && is_small) {
      // The way may lead back to the first small container, and down again.
      Node* merged = Own(MergedEntries(small_ == nullptr ? at_ : Own(CopyOf(*at_))));
      if (small_ == nullptr) {
        small_ = at_;
        small_holds_ = merge;
        small_bytes_ = children.entry_bytes;
        small_steps_ = chosen_.steps.size();
        small_merged_ = merged;
      }
      return Enter(merged);
    }
    if (merge && entries_hold) {
      return Hold(children.entry_bytes, Own(MergedEntries(at_)));
    }
    if (ShareOfBytes(children.best->bytes, at_->bytes) >= kMain) return Enter(children.best);
    return false;
  }

  bool Enter(Node* node) {
    at_ = node;
    chosen_.steps.push_back(node->step);
    way_.push_back(node);
    return true;
  }

  // The container reached last holds, with these entries.
  bool Hold(uint64_t entry_bytes, Node* merged) {
    container_ = at_;
    chosen_.holder = chosen_.steps.size() - 1;
    chosen_.entries = true;
    chosen_.holder_bytes = entry_bytes;
    chosen_.holder_objects = merged->objects;
    return Enter(merged);
  }

  Node* Own(std::unique_ptr<Node> node) {
    merged_.push_back(std::move(node));
    return merged_.back().get();
  }

  // No larger container is inside the small one.
  void BackToSmall() {
    at_ = small_;
    chosen_.steps.resize(small_steps_);
    way_.resize(small_steps_);
    if (!small_holds_) return;
    Hold(small_bytes_, small_merged_);
    while (Down()) {
    }
  }

  // Without a container, the last object with a name holds.
  void FindHolder() {
    size_t last = chosen_.steps.size() - 1;
    for (size_t i = 1; i < chosen_.steps.size(); ++i) {
      const uint32_t step = chosen_.steps[i].step;
      if (IsGraph(step) || step == schema::HOLDER_GRADIENT || step == schema::HOLDER_TRACEBACK ||
          step == schema::HOLDER_HOOK) {
        last = i - 1;
        break;
      }
    }
    chosen_.holder = last;
    chosen_.holder_bytes = way_[last]->bytes;
    chosen_.holder_objects = way_[last]->objects;
  }

  Node* at_;
  const Node* container_ = nullptr;
  // The first small container on the way, and its entries as one. `small_holds_`: it would hold if none were inside.
  Node* small_ = nullptr;
  Node* small_merged_ = nullptr;
  bool small_holds_ = false;
  uint64_t small_bytes_ = 0;
  size_t small_steps_ = 0;
  std::vector<Node*> way_;
  std::vector<std::unique_ptr<Node>> merged_;
  ChosenHolder chosen_;
};

}  // namespace

bool IsHeldBy(const ChosenHolder& chosen, const std::vector<PathStep>& steps) {
  if (steps.size() <= chosen.holder) return false;
  for (size_t i = 0; i <= chosen.holder; ++i) {
    const PathStep& a = chosen.steps[i];
    const PathStep& b = steps[i];
    if (i > 0 && a.step == schema::HOLDER_ENTRY && IsEntry(b.step)) continue;
    if (a.step != b.step || a.name != b.name) return false;
    if (IsRoot(a.step) && a.file != b.file) return false;
  }
  return !chosen.entries || (steps.size() > chosen.holder + 1 && IsEntry(steps[chosen.holder + 1].step));
}

std::vector<ChosenHolder> ChooseHolders(const HolderPaths& paths, const HolderWalk& walk,
                                        const std::vector<HeldPath>& held, size_t most, double least) {
  std::vector<std::pair<std::vector<PathStep>, const HeldPath*>> left;
  uint64_t all = 0;
  for (const HeldPath& one : held) {
    all += one.bytes;
    if (!one.path.is_none()) left.emplace_back(PathSteps(paths, walk, one.path), &one);
  }
  std::vector<ChosenHolder> chosen;
  while (chosen.size() < most && !left.empty()) {
    Node root;
    for (const auto& [steps, one] : left) {
      Node* node = &root;
      node->bytes += one->bytes;
      for (const PathStep& step : steps) {
        node = node->Child(step);
        node->bytes += one->bytes;
        node->objects += one->objects;
      }
    }
    ChosenHolder next = Descent(&root).Run();
    if (next.holder_bytes == 0 || ShareOfBytes(next.holder_bytes, all) < least) break;
    const size_t before = left.size();
    left.erase(std::remove_if(left.begin(), left.end(), [&next](const auto& one) { return IsHeldBy(next, one.first); }),
               left.end());
    chosen.push_back(std::move(next));
    if (left.size() == before) break;
  }
  return chosen;
}

}  // namespace vramtrack
