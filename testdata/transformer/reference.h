// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_REFERENCE_H_
#define TESTDATA_TRANSFORMER_REFERENCE_H_

#include <cstddef>
#include <vector>

#include "testdata/transformer/batch.h"
#include "testdata/transformer/config.h"
#include "testdata/transformer/optimizer.h"

namespace transformer {

// The values of each parameter in double precision, in the order of ParameterLayout.
using ReferenceParameters = std::vector<std::vector<double>>;

ReferenceParameters ToReference(const std::vector<std::vector<float>>& values);

// A second, simple implementation of the model on the host, which shares no code with the kernels. `parameters` must
// outlive this object.
class ReferenceModel {
 public:
  ReferenceModel(const Config& config, const ReferenceParameters& parameters)
      : config_(config), parameters_(parameters) {}

  // Returns the logits [rows, vocab] of a batch.
  std::vector<double> Logits(const HostBatch& batch) const;
  double Loss(const HostBatch& batch) const;

 private:
  using Rows = std::vector<std::vector<double>>;

  const std::vector<double>& Layer(int layer, int which) const { return parameters_[2 + layer * 12 + which]; }
  Rows Attend(const Rows& qkv, const HostBatch& batch) const;

  const Config config_;
  const ReferenceParameters& parameters_;
};

// Does one step of Adam for the values of one parameter. `step` counts from 1.
void ReferenceAdam(const AdamOptions& options, int step, const std::vector<double>& gradient,
                   std::vector<double>* moment1, std::vector<double>* moment2, std::vector<double>* values);

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_REFERENCE_H_
