// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_EXPORT_TORCH_SNAPSHOT_H_
#define ANALYZER_EXPORT_TORCH_SNAPSHOT_H_

#include <memory>

#include "analyzer/export/exporter.h"

namespace vramtrack {

// PyTorch's memory snapshot, as torch.cuda.memory._dump_snapshot writes it: torch/csrc/cuda/memory_snapshot.cpp, read
// by torch/utils/viz/MemoryViz.js and torch/cuda/_memory_viz.py. Of one process: a second one is an error.
std::unique_ptr<Exporter> MakeTorchSnapshot(const ExportOptions& options, ExportSink sink);

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_TORCH_SNAPSHOT_H_
