// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_LIBRARIES_CUDNN_RNN_H_
#define TESTS_SIMCUDA_LIBRARIES_CUDNN_RNN_H_

#include <cstddef>

#include "tests/simcuda/libraries/cudnn.h"

namespace vramtrack::simcuda {

// A recurrent network, as described by cuDNN's descriptor.
struct Rnn {
  int cell = kRnnRelu, bias = kRnnTwoBiases, type = 0;
  int input = 0, hidden = 0, projection = 0, layers = 0, directions = 1;

  int gates() const { return cell == kRnnLstm ? 4 : cell == kRnnGru ? 3 : 1; }
  bool projects() const { return projection != 0 && projection != hidden; }
  // Returns the size of a step's output.
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

// One matrix or bias of one layer: its offset in the weights in elements, and its size.
struct RnnPart {
  bool there = false;
  size_t offset = 0;
  int rows = 0, columns = 0;
};

// The weights begin with all matrices, layer by layer: for each gate the matrix of the input, then for each gate that
// of the state, then the projection. All biases follow in the same order.
RnnPart MatrixOf(const Rnn& rnn, int layer, int gate);
RnnPart BiasOf(const Rnn& rnn, int layer, int gate);

// Sets a tensor descriptor and `*address` for a part of `weights`. `descriptor` and `address` may be nullptr.
void ReportPart(const Rnn& rnn, const RnnPart& part, const void* weights, void* descriptor, void** address);

// Return the bytes of workspace for `longest` steps of `batch` sequences, and the bytes that they keep for the backward
// pass: the gates, the cell and the output of every step of every layer.
size_t RnnWorkBytes(const Rnn& rnn, int longest, int batch);
size_t RnnReserveBytes(const Rnn& rnn, int longest, int batch);

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_LIBRARIES_CUDNN_RNN_H_
