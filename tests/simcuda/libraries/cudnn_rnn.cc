// SPDX-License-Identifier: Apache-2.0
// Recurrent layers: where each gate's weights lie in the one buffer that a program passes, and how large that and the
// buffers for a run are.
#include "tests/simcuda/libraries/cudnn_rnn.h"

#include "tests/simcuda/libraries/cudnn_tensor.h"

namespace vramtrack::simcuda {

RnnPart MatrixOf(const Rnn& rnn, int layer, int gate) {
  RnnPart part;
  const bool projection = rnn.projects() && gate == 2 * rnn.gates();
  if (layer < 0 || layer >= rnn.pseudo_layers() || gate < 0 || (gate >= 2 * rnn.gates() && !projection)) return part;
  part.there = true;
  part.rows = projection ? rnn.projection : rnn.hidden;
  part.columns = projection ? rnn.hidden : gate < rnn.gates() ? rnn.layer_input(layer) : rnn.output();
  for (int before = 0; before < layer; ++before) part.offset += rnn.MatrixElements(before);
  const size_t of_input = size_t(rnn.hidden) * size_t(rnn.layer_input(layer));
  const size_t of_state = size_t(rnn.hidden) * size_t(rnn.output());
  part.offset += gate < rnn.gates() ? size_t(gate) * of_input
                                    : size_t(rnn.gates()) * of_input + size_t(gate - rnn.gates()) * of_state;
  return part;
}

RnnPart BiasOf(const Rnn& rnn, int layer, int gate) {
  RnnPart part;
  const bool of_state = gate >= rnn.gates();
  if (rnn.bias == kRnnNoBias || gate < 0 || gate >= 2 * rnn.gates()) return part;
  if (rnn.bias == (of_state ? kRnnOneInputBias : kRnnOneRecurrentBias)) return part;
  const int row = rnn.bias == kRnnTwoBiases ? gate : gate % rnn.gates();
  part.there = true;
  part.rows = rnn.hidden;
  part.columns = 1;
  part.offset = rnn.WeightElements() - size_t(rnn.pseudo_layers() - layer) * rnn.BiasElements() +
                size_t(row) * size_t(rnn.hidden);
  return part;
}

void ReportPart(const Rnn& rnn, const RnnPart& part, const void* weights, void* descriptor, void** address) {
  if (descriptor != nullptr && part.there) {
    const int sizes[] = {1, part.rows, part.columns}, strides[] = {part.rows * part.columns, part.columns, 1};
    static_cast<Tensor*>(descriptor)->Set(rnn.type, 3, sizes, strides);
  }
  if (address == nullptr) return;
  const char* at = static_cast<const char*>(weights) + part.offset * ElementBytes(rnn.type);
  *address = part.there ? const_cast<char*>(at) : nullptr;
}

size_t RnnWorkBytes(const Rnn& rnn, int longest, int batch) {
  const size_t steps = size_t(longest) * size_t(batch) * size_t(rnn.directions);
  return WorkBytes(steps * size_t(rnn.gates()) * size_t(rnn.hidden) * ElementBytes(rnn.type));
}

size_t RnnReserveBytes(const Rnn& rnn, int longest, int batch) {
  const size_t steps = size_t(longest) * size_t(batch) * size_t(rnn.pseudo_layers());
  const size_t kept = size_t(rnn.gates() + 1) * size_t(rnn.hidden) + size_t(rnn.output());
  return WorkBytes(steps * kept * ElementBytes(rnn.type));
}

namespace {

struct RnnData {
  int longest = 0, batch = 0;
};

}  // namespace

extern "C" {

cudnnStatus_t cudnnCreateRNNDescriptor(void** descriptor) {
  *descriptor = new Rnn;
  return 0;
}

cudnnStatus_t cudnnDestroyRNNDescriptor(void* descriptor) {
  delete static_cast<Rnn*>(descriptor);
  return 0;
}

cudnnStatus_t cudnnSetRNNDescriptor_v8(void* descriptor, int, int cell, int bias, int direction, int, int type, int,
                                       int, int input_size, int hidden_size, int projection_size, int layers, void*,
                                       unsigned) {
  if (cell < kRnnRelu || cell > kRnnGru || bias < kRnnNoBias || bias > kRnnOneRecurrentBias) return 2000;
  auto* rnn = static_cast<Rnn*>(descriptor);
  rnn->cell = cell;
  rnn->bias = bias;
  rnn->directions = direction == kRnnTwoDirections ? 2 : 1;
  rnn->type = type;
  rnn->input = input_size;
  rnn->hidden = hidden_size;
  rnn->projection = projection_size;
  rnn->layers = layers;
  return 0;
}

cudnnStatus_t cudnnCreateRNNDataDescriptor(void** descriptor) {
  *descriptor = new RnnData;
  return 0;
}

cudnnStatus_t cudnnDestroyRNNDataDescriptor(void* descriptor) {
  delete static_cast<RnnData*>(descriptor);
  return 0;
}

cudnnStatus_t cudnnSetRNNDataDescriptor(void* descriptor, int, int, int longest, int batch, int, const int*, void*) {
  auto* data = static_cast<RnnData*>(descriptor);
  data->longest = longest;
  data->batch = batch;
  return 0;
}

cudnnStatus_t cudnnGetRNNWeightSpaceSize(cudnnHandle_t, void* descriptor, size_t* bytes) {
  const auto* rnn = static_cast<const Rnn*>(descriptor);
  *bytes = rnn->WeightElements() * ElementBytes(rnn->type);
  return 0;
}

cudnnStatus_t cudnnGetRNNTempSpaceSizes(cudnnHandle_t, void* descriptor, int mode, void* data_descriptor,
                                        size_t* work_bytes, size_t* reserve_bytes) {
  const auto& rnn = *static_cast<const Rnn*>(descriptor);
  const auto& data = *static_cast<const RnnData*>(data_descriptor);
  if (work_bytes != nullptr) *work_bytes = RnnWorkBytes(rnn, data.longest, data.batch);
  if (reserve_bytes != nullptr) {
    *reserve_bytes = mode == kRnnTraining ? RnnReserveBytes(rnn, data.longest, data.batch) : 0;
  }
  return 0;
}

cudnnStatus_t cudnnGetRNNWeightParams(cudnnHandle_t, void* descriptor, int layer, size_t bytes, const void* weights,
                                      int gate, void* matrix, void** matrix_address, void* bias, void** bias_address) {
  const auto& rnn = *static_cast<const Rnn*>(descriptor);
  const RnnPart part = MatrixOf(rnn, layer, gate);
  if (!part.there || bytes < rnn.WeightElements() * ElementBytes(rnn.type)) return 2000;
  ReportPart(rnn, part, weights, matrix, matrix_address);
  ReportPart(rnn, BiasOf(rnn, layer, gate), weights, bias, bias_address);
  return 0;
}

}  // extern "C"

// The functions that cuDNN 8 still had learn the size of the input, its type and the batch from the descriptor of one
// step's input. Both biases are always there.
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
