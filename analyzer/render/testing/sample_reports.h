// SPDX-License-Identifier: Apache-2.0
//
// Reports made by hand, for the tests of what prints them.
#ifndef ANALYZER_RENDER_TESTING_SAMPLE_REPORTS_H_
#define ANALYZER_RENDER_TESTING_SAMPLE_REPORTS_H_

#include "analyzer/model/report.h"

namespace vramtrack {

// A transformer whose attention.cu:87 leaks 4 MiB a step on an 80 GiB device, 52 steps long, ended normally.
Report LeakSample();
// The same job without the leak.
Report NoLeakSample();
// The same job, stopped after four steps.
Report TooShortSample();
// The leak, run until a request fails, and killed.
Report OutOfMemorySample();
// Two thousand sites of every verdict on four devices and in host memory, two processes, one of them incomplete.
Report ManySitesSample();
// Names in several scripts, control characters, text that is not UTF-8, numbers that are not finite.
Report HostileTextSample();
// Names that are markup, as if somebody wanted to run something in a page.
Report MarkupSample();
// A PyTorch job that leaks what its backward pass makes.
Report PyTorchSample();
// The same with four ranks, of which the third leaks.
Report RanksSample();

// The same of 64 ranks, most of which have the leak.
Report LargeJobSample();
// The leak with CUPTI's records: what hooks and CUPTI saw of each other's, and a library that no hook sees leaks, too.
Report CuptiSample();
// Of a process that did nothing.
Report EmptySample();

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_TESTING_SAMPLE_REPORTS_H_
