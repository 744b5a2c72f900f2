// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/sample_reports.h"

namespace vramtrack {
namespace {

ReportFrame Python(const char* function, const char* file, const char* shown_file, uint32_t line) {
  ReportFrame frame;
  frame.function = function;
  frame.file = file;
  frame.shown_file = shown_file;
  frame.line = line;
  frame.language = "python";
  frame.forward = true;
  return frame;
}

}  // namespace

Report PyTorchSample() {
  Report report = LeakSample();
  ReportSite& leak = report.sites[0];
  leak.level = leak.grade = "framework";
  leak.kind = "framework_block";
  ReportFrame native, node;
  native.function = "at::native::empty_cuda(c10::ArrayRef<long>)";
  native.module = "/env/lib/python3.11/site-packages/torch/lib/libtorch_cuda.so";
  native.offset = 0x143cd13;
  native.language = "c++";
  node.function = "AddmmBackward0";
  node.language = "autograd";
  node.origin = ReportFrame::Origin::kNode;
  ReportFrame linear = Python("Linear.forward", "/env/lib/python3.11/site-packages/torch/nn/modules/linear.py",
                              "torch/nn/modules/linear.py", 134);
  linear.origin = ReportFrame::Origin::kLibrary;
  leak.frames = {native,
                 node,
                 linear,
                 Python("Net.forward", "/home/me/job/model.py", "model.py", 12),
                 Python("step", "/home/me/job/train.py", "train.py", 42),
                 Python("<module>", "/home/me/job/train.py", "train.py", 60)};
  leak.blame_frame = 4;
  return report;
}

}  // namespace vramtrack
