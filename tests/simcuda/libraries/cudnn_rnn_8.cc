// SPDX-License-Identifier: Apache-2.0
// Recurrent layers by the functions that cuDNN 8 still had: they learn the size of the input, its type and the batch
// from the descriptor of one step's input. Both biases are always there.
#include "tests/simcuda/libraries/cudnn_rnn.h"
#include "tests/simcuda/libraries/cudnn_tensor.h"

namespace vramtrack::simcuda {
namespace {

Rnn WithInput(const void* descriptor, const void* input) {
  Rnn rnn = *static_cast<const Rnn*>(descriptor);
  const auto* step = static_cast<const Tensor*>(input);
  if (step->sizes.size() > 1) rnn.input = step->sizes[1];
  rnn.type = step->type;
  return rnn;
}

int Batch(const void* input) {
  const auto* step = static_cast<const Tensor*>(input);
  return step->sizes.empty() ? 0 : step->sizes[0];
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnSetRNNDescriptor_v6(cudnnHandle_t, void* descriptor, int hidden_size, int layers, void*, int,
                                       int direction, int cell, int, int type) {
  return cudnnSetRNNDescriptor_v8(descriptor, 0, cell, kRnnTwoBiases, direction, 0, type, 0, 0, 0, hidden_size, 0,
                                  layers, nullptr, 0);
}

cudnnStatus_t cudnnSetRNNProjectionLayers(cudnnHandle_t, void* descriptor, int recurrent_size, int) {
  static_cast<Rnn*>(descriptor)->projection = recurrent_size;
  return 0;
}

cudnnStatus_t cudnnGetRNNParamsSize(cudnnHandle_t, void* descriptor, void* input, size_t* bytes, int type) {
  *bytes = WithInput(descriptor, input).WeightElements() * ElementBytes(type);
  return 0;
}

cudnnStatus_t cudnnGetRNNWorkspaceSize(cudnnHandle_t, void* descriptor, int steps, void* const* inputs, size_t* bytes) {
  *bytes = RnnWorkBytes(WithInput(descriptor, inputs[0]), steps, Batch(inputs[0]));
  return 0;
}

cudnnStatus_t cudnnGetRNNTrainingReserveSize(cudnnHandle_t, void* descriptor, int steps, void* const* inputs,
                                             size_t* bytes) {
  *bytes = RnnReserveBytes(WithInput(descriptor, inputs[0]), steps, Batch(inputs[0]));
  return 0;
}

cudnnStatus_t cudnnGetRNNLinLayerMatrixParams(cudnnHandle_t, void* descriptor, int layer, void* input, void*,
                                              const void* weights, int gate, void* matrix, void** address) {
  const Rnn rnn = WithInput(descriptor, input);
  ReportPart(rnn, MatrixOf(rnn, layer, gate), weights, matrix, address);
  return 0;
}

cudnnStatus_t cudnnGetRNNLinLayerBiasParams(cudnnHandle_t, void* descriptor, int layer, void* input, void*,
                                            const void* weights, int gate, void* bias, void** address) {
  const Rnn rnn = WithInput(descriptor, input);
  ReportPart(rnn, BiasOf(rnn, layer, gate), weights, bias, address);
  return 0;
}

}  // extern "C"

}  // namespace vramtrack::simcuda
