// SPDX-License-Identifier: Apache-2.0
// Recurrent layers: where each gate's weights lie in the one buffer that a program passes, and how large that and the
// buffers for a run are.
#include <cstdint>

#include "tests/simcuda/libraries/cudnn.h"
#include "tests/simcuda/libraries/cudnn_tensor.h"

namespace vramtrack::simcuda {
namespace {

struct Rnn {
  int cell = kRnnRelu, bias = kRnnTwoBiases, type = 0;
  int input = 0, hidden = 0, projection = 0, layers = 0, directions = 1;

  int gates() const { return cell == kRnnLstm ? 4 : cell == kRnnGru ? 3 : 1; }
  bool projects() const { return projection != 0 && projection != hidden; }
  // What a step hands on.
  int output() const { return projects() ? projection : hidden; }
  int pseudo_layers() const { return layers * directions; }
  int layer_input(int layer) const { return layer / directions == 0 ? input : output() * directions; }
  int biases() const { return bias == kRnnNoBias ? 0 : bias == kRnnTwoBiases ? 2 : 1; }

  size_t MatrixElements(int layer) const {
    const size_t of_gate = size_t(hidden) * size_t(layer_input(layer) + output());
    return size_t(gates()) * of_gate + (projects() ? size_t(projection) * size_t(hidden) : 0);
  }
  size_t BiasElements() const { return size_t(biases()) * size_t(gates()) * size_t(hidden); }
  size_t WeightElements() const {
    size_t elements = size_t(pseudo_layers()) * BiasElements();
    for (int layer = 0; layer < pseudo_layers(); ++layer) elements += MatrixElements(layer);
    return elements;
  }
};

struct RnnData {
  int longest = 0, batch = 0;
};

// All matrices come first, layer by layer: those that the input is multiplied with, gate by gate, then those of the
// state, then the projection. All biases follow in the same order.
size_t MatrixOffset(const Rnn& rnn, int layer, int gate) {
  size_t elements = 0;
  for (int before = 0; before < layer; ++before) elements += rnn.MatrixElements(before);
  const size_t of_input = size_t(rnn.hidden) * size_t(rnn.layer_input(layer));
  const size_t of_state = size_t(rnn.hidden) * size_t(rnn.output());
  if (gate < rnn.gates()) return elements + size_t(gate) * of_input;
  return elements + size_t(rnn.gates()) * of_input + size_t(gate - rnn.gates()) * of_state;
}

// False where that gate has no bias.
bool BiasOffset(const Rnn& rnn, int layer, int gate, size_t* elements) {
  const bool of_state = gate >= rnn.gates();
  if (rnn.bias == kRnnNoBias || gate >= 2 * rnn.gates()) return false;
  if (rnn.bias == (of_state ? kRnnOneInputBias : kRnnOneRecurrentBias)) return false;
  const int row = rnn.bias == kRnnTwoBiases ? gate : gate % rnn.gates();
  *elements = rnn.WeightElements() - size_t(rnn.pseudo_layers() - layer) * rnn.BiasElements() +
              size_t(row) * size_t(rnn.hidden);
  return true;
}

void SetPlane(void* descriptor, int type, int rows, int columns) {
  const int sizes[] = {1, rows, columns}, strides[] = {rows * columns, columns, 1};
  static_cast<Tensor*>(descriptor)->Set(type, 3, sizes, strides);
}

void* At(const void* weights, size_t elements, int type) {
  const auto* bytes = static_cast<const char*>(weights) + elements * ElementBytes(type);
  return const_cast<char*>(bytes);
}

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

// The gates of one layer are worked on; for the way back the gates, the cell and the output of every step of every
// layer are kept.
cudnnStatus_t cudnnGetRNNTempSpaceSizes(cudnnHandle_t, void* descriptor, int mode, void* data_descriptor,
                                        size_t* work_bytes, size_t* reserve_bytes) {
  const auto* rnn = static_cast<const Rnn*>(descriptor);
  const auto* data = static_cast<const RnnData*>(data_descriptor);
  const size_t steps = size_t(data->longest) * size_t(data->batch) * size_t(rnn->directions);
  const size_t element = ElementBytes(rnn->type);
  if (work_bytes != nullptr) *work_bytes = WorkBytes(steps * size_t(rnn->gates()) * size_t(rnn->hidden) * element);
  if (reserve_bytes == nullptr) return 0;
  const size_t kept = size_t(rnn->gates() + 1) * size_t(rnn->hidden) + size_t(rnn->output());
  *reserve_bytes = mode == kRnnTraining ? WorkBytes(steps * size_t(rnn->layers) * kept * element) : 0;
  return 0;
}

cudnnStatus_t cudnnGetRNNWeightParams(cudnnHandle_t, void* descriptor, int layer, size_t bytes, const void* weights,
                                      int gate, void* matrix, void** matrix_address, void* bias, void** bias_address) {
  const auto& rnn = *static_cast<const Rnn*>(descriptor);
  const bool is_projection = rnn.projects() && gate == 2 * rnn.gates();
  if (layer < 0 || layer >= rnn.pseudo_layers() || gate < 0 || gate >= 2 * rnn.gates() + (rnn.projects() ? 1 : 0) ||
      bytes < rnn.WeightElements() * ElementBytes(rnn.type)) {
    return 2000;
  }
  // Of a matrix and a bias the caller may want one only.
  if (matrix != nullptr && is_projection) {
    SetPlane(matrix, rnn.type, rnn.projection, rnn.hidden);
  } else if (matrix != nullptr) {
    SetPlane(matrix, rnn.type, rnn.hidden, gate < rnn.gates() ? rnn.layer_input(layer) : rnn.output());
  }
  if (matrix_address != nullptr) *matrix_address = At(weights, MatrixOffset(rnn, layer, gate), rnn.type);
  size_t elements = 0;
  const bool has_bias = BiasOffset(rnn, layer, gate, &elements);
  if (bias != nullptr && has_bias) SetPlane(bias, rnn.type, rnn.hidden, 1);
  if (bias_address != nullptr) *bias_address = has_bias ? At(weights, elements, rnn.type) : nullptr;
  return 0;
}

}  // extern "C"

}  // namespace vramtrack::simcuda
