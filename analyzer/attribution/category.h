// SPDX-License-Identifier: Apache-2.0
//
// What an allocation is for, as far as its stack and its lifetime tell. docs/ledger.md has the rules in words.
#ifndef ANALYZER_ATTRIBUTION_CATEGORY_H_
#define ANALYZER_ATTRIBUTION_CATEGORY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/model/report.h"
#include "proto/schema_constants.h"

namespace vramtrack {

// What a stack passes through.
struct StackTraits {
  bool communication = false;  // NCCL, torch.distributed
  bool workspace = false;      // of cuBLAS, cuDNN and the like
  bool optimizer = false;      // an optimizer's step
  bool data_loader = false;
  bool pins = false;        // the thread of a DataLoader that copies batches to pinned memory
  bool setup = false;       // of a module's parameters: its constructor, .to(), .cuda(), loading of weights
  bool module = false;      // a module's forward
  bool backward = false;    // the backward pass
  bool accumulate = false;  // a graph node that adds up a gradient
};

// Of all frames of a stack, raw ones.
StackTraits TraitsOf(const std::vector<ReportFrame>& frames, schema::GraphNode node);

// How long what a site allocates lives.
struct SiteLifetime {
  bool kept = false;          // some of it is alive at the end
  bool across_steps = false;  // some of it lived on into another step
  bool in_steps = true;       // there were steps, so that what is not kept is known to be gone within one
  // Most of what was freed had lived into a backward pass, or into an optimizer's step.
  bool into_backward = false, into_optimizer = false;
  bool as_parameters = false;  // kept, made after the first backward pass, and as many and as large as the parameters
};

enum class Category : uint8_t {
  kParameters,
  kGradients,
  kOptimizerState,
  kActivations,
  kTemporary,
  kWorkspace,
  kCommunication,
  kInput,
  kPinned,   // of the host, of no other category
  kUnknown,  // looked at in vain
  kOther,    // not looked at: of sites that hold little
};
constexpr size_t kCategories = 11;

// "parameters", "gradients", "optimizer_state", ...
const char* CategoryName(Category category);

// What decided. Where two speak for a category the stronger one is named: the graph's node, then sizes, the stack, the
// lifetime.
enum class Evidence : uint8_t { kNone, kStack, kGraphNode, kLifetime, kSize };
constexpr size_t kEvidences = 5;

// "none", "stack", "graph_node", "lifetime", "size".
const char* EvidenceName(Evidence evidence);

struct Purpose {
  Category category = Category::kOther;
  Evidence evidence = Evidence::kNone;
  double confidence = 0;      // 0 to 1: a rule's own, see the table in docs/peaks.md
  bool in_optimizer = false;  // made within an optimizer's step
};

// `host`: memory of the host, which is input or just pinned.
Purpose PurposeOf(const StackTraits& traits, const SiteLifetime& lifetime, bool host);

}  // namespace vramtrack

#endif  // ANALYZER_ATTRIBUTION_CATEGORY_H_
