// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_REFERENCE_H_
#define TESTDATA_TRANSFORMER_REFERENCE_H_

#include <cstddef>
#include <vector>

#include "testdata/transformer/batch.h"
#include "testdata/transformer/config.h"
#include "testdata/transformer/optimizer.h"

namespace transformer {

// One value for each parameter, in the order of ParameterLayout, in double precision.
using ReferenceParameters = std::vector<std::vector<double>>;

ReferenceParameters ToReference(const std::vector<std::vector<float>>& values);

// The model written a second time, plainly and on the host. Shares no code with the kernels.
class ReferenceModel {
 public:
  ReferenceModel(const Config& config, const ReferenceParameters& parameters)
      : config_(config), parameters_(parameters) {}

  // The logits [rows, vocab] of a batch.
  std::vector<double> Logits(const HostBatch& batch) const;
  double Loss(const HostBatch& batch) const;

 private:
  using Rows = std::vector<std::vector<double>>;

  const std::vector<double>& Layer(int layer, int which) const { return parameters_[2 + layer * 12 + which]; }
  Rows Attend(const Rows& qkv, const HostBatch& batch) const;

  const Config config_;
  const ReferenceParameters& parameters_;
};

// One step of Adam for one parameter's values; `step` counts from 1.
void ReferenceAdam(const AdamOptions& options, int step, const std::vector<double>& gradient,
                   std::vector<double>* moment1, std::vector<double>* moment2, std::vector<double>* values);

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_REFERENCE_H_
