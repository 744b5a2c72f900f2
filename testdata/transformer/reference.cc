// SPDX-License-Identifier: Apache-2.0
#include "testdata/transformer/reference.h"

#include <algorithm>
#include <cmath>

namespace transformer {
namespace {

using Row = std::vector<double>;

Row Norm(const Row& x, const Row& gamma, const Row& beta) {
  double mean = 0.0;
  for (double v : x) mean += v / static_cast<double>(x.size());
  double variance = 0.0;
  for (double v : x) variance += (v - mean) * (v - mean) / static_cast<double>(x.size());
  Row y(x.size());
  for (size_t i = 0; i < x.size(); ++i) y[i] = (x[i] - mean) / std::sqrt(variance + 1e-5) * gamma[i] + beta[i];
  return y;
}

// x * weight + bias, weight [x.size(), out].
Row Linear(const Row& x, const Row& weight, const Row& bias) {
  Row y = bias;
  for (size_t i = 0; i < x.size(); ++i) {
    for (size_t o = 0; o < y.size(); ++o) y[o] += x[i] * weight[i * y.size() + o];
  }
  return y;
}

double Gelu(double x) { return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x))); }

void AddTo(Row* x, const Row& y) {
  for (size_t i = 0; i < x->size(); ++i) (*x)[i] += y[i];
}

}  // namespace

ReferenceParameters ToReference(const std::vector<std::vector<float>>& values) {
  ReferenceParameters reference;
  for (const std::vector<float>& value : values) reference.emplace_back(value.begin(), value.end());
  return reference;
}

ReferenceModel::Rows ReferenceModel::Attend(const Rows& qkv, const HostBatch& batch) const {
  const int dim = config_.dim;
  const int size = config_.head_dim();
  Rows context(qkv.size(), Row(dim, 0.0));
  for (int b = 0; b < batch.batch; ++b) {
    for (int h = 0; h < config_.heads; ++h) {
      for (int i = 0; i < batch.seq; ++i) {
        const int row = b * batch.seq + i;
        Row weights;
        for (int j = 0; j <= i; ++j) {
          double score = 0.0;
          for (int d = 0; d < size; ++d) {
            score += qkv[row][h * size + d] * qkv[b * batch.seq + j][dim + h * size + d];
          }
          weights.push_back(score / std::sqrt(size) + batch.mask[row * batch.seq + j]);
        }
        const double largest = *std::max_element(weights.begin(), weights.end());
        double sum = 0.0;
        for (double& w : weights) sum += w = std::exp(w - largest);
        for (int j = 0; j <= i; ++j) {
          for (int d = 0; d < size; ++d) {
            context[row][h * size + d] += weights[j] / sum * qkv[b * batch.seq + j][2 * dim + h * size + d];
          }
        }
      }
    }
  }
  return context;
}

std::vector<double> ReferenceModel::Logits(const HostBatch& batch) const {
  const int dim = config_.dim;
  Rows x(batch.batch * batch.seq, Row(dim));
  for (size_t row = 0; row < x.size(); ++row) {
    for (int d = 0; d < dim; ++d) {
      x[row][d] = parameters_[0][batch.tokens[row] * dim + d] + parameters_[1][row % batch.seq * dim + d];
    }
  }
  for (int layer = 0; layer < config_.layers; ++layer) {
    Rows qkv;
    for (const Row& row : x) {
      qkv.push_back(Linear(Norm(row, Layer(layer, 0), Layer(layer, 1)), Layer(layer, 2), Layer(layer, 3)));
    }
    const Rows context = Attend(qkv, batch);
    for (size_t row = 0; row < x.size(); ++row) {
      AddTo(&x[row], Linear(context[row], Layer(layer, 4), Layer(layer, 5)));
      Row hidden = Linear(Norm(x[row], Layer(layer, 6), Layer(layer, 7)), Layer(layer, 8), Layer(layer, 9));
      for (double& v : hidden) v = Gelu(v);
      AddTo(&x[row], Linear(hidden, Layer(layer, 10), Layer(layer, 11)));
    }
  }
  std::vector<double> logits;
  for (const Row& row : x) {
    const Row normed = Norm(row, Layer(config_.layers, 0), Layer(config_.layers, 1));
    const Row out = Linear(normed, Layer(config_.layers, 2), Row(config_.vocab, 0.0));
    logits.insert(logits.end(), out.begin(), out.end());
  }
  return logits;
}

double ReferenceModel::Loss(const HostBatch& batch) const {
  const std::vector<double> logits = Logits(batch);
  double loss = 0.0;
  for (size_t row = 0; row < batch.targets.size(); ++row) {
    if (batch.targets[row] < 0) continue;
    const double* x = &logits[row * config_.vocab];
    double sum = 0.0;
    for (int v = 0; v < config_.vocab; ++v) sum += std::exp(x[v]);
    loss += std::log(sum) - x[batch.targets[row]];
  }
  return loss / batch.valid;
}

void ReferenceAdam(const AdamOptions& options, int step, const std::vector<double>& gradient,
                   std::vector<double>* moment1, std::vector<double>* moment2, std::vector<double>* values) {
  const double beta1 = options.beta1;
  const double beta2 = options.beta2;
  for (size_t i = 0; i < gradient.size(); ++i) {
    (*moment1)[i] = beta1 * (*moment1)[i] + (1.0 - beta1) * gradient[i];
    (*moment2)[i] = beta2 * (*moment2)[i] + (1.0 - beta2) * gradient[i] * gradient[i];
    const double mean = (*moment1)[i] / (1.0 - std::pow(beta1, step));
    const double square = (*moment2)[i] / (1.0 - std::pow(beta2, step));
    (*values)[i] -= options.learning_rate * mean / (std::sqrt(square) + options.epsilon);
  }
}

}  // namespace transformer
