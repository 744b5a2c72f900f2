// SPDX-License-Identifier: Apache-2.0
//
// Handmade reports for tests of renderers.
#ifndef ANALYZER_RENDER_TESTING_SAMPLE_REPORTS_H_
#define ANALYZER_RENDER_TESTING_SAMPLE_REPORTS_H_

#include "analyzer/model/report.h"

namespace vramtrack {

// A transformer whose attention.cu:87 leaks 4 MiB per step on an 80 GiB device. It exits normally after 52 steps.
Report LeakSample();
// The same job without the leak.
Report NoLeakSample();
// The same job, stopped after four steps.
Report TooShortSample();
// The leak, run until a request fails, and killed.
Report OutOfMemorySample();
// Two thousand sites with every verdict, on four devices and in host memory. There are two processes, one of them
// incomplete.
Report ManySitesSample();
// Names in several scripts, control characters, text that is not UTF-8, numbers that are not finite.
Report HostileTextSample();
// Names that contain markup, as in an attack on the reader's browser.
Report MarkupSample();
// A PyTorch job that leaks memory that its backward pass allocates.
Report PyTorchSample();
// The same job with four ranks; the third one leaks.
Report RanksSample();

// The same job with 64 ranks; most of them leak.
Report LargeJobSample();
// The leak with CUPTI's records, including differences between hooks and CUPTI, and a leak of a library that no hook
// sees.
Report CuptiSample();
// The PyTorch job, with two walks through its objects that show who holds the leak, and at a failed allocation.
Report HolderSample();
// The job without the leak, whose host memory grows, and another process on the same card.
Report SharedCardSample();
// A process that did nothing.
Report EmptySample();

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_TESTING_SAMPLE_REPORTS_H_
