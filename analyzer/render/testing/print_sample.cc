// SPDX-License-Identifier: Apache-2.0
//
// Prints a handmade report with one of the renderers. Usage: print_sample NAME json|text|short|html
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "analyzer/render/html/html.h"
#include "analyzer/render/json/json.h"
#include "analyzer/render/testing/sample_reports.h"
#include "analyzer/render/text/page.h"
#include "analyzer/render/text/text.h"

namespace {

// The walk at the failure saw who held the memory.
vramtrack::Report HeldOomSample() {
  vramtrack::Report report = vramtrack::OutOfMemorySample();
  report.oom.back().held_by = {{"__main__.encoder.cache", "dict", 417, uint64_t{1668} << 20, 417, 0.75},
                               {"__main__.model.wte.weight", "Parameter", std::nullopt, uint64_t{480} << 20, 1, 0.23}};
  return report;
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::function<vramtrack::Report()>> samples = {
      {"leak", vramtrack::LeakSample},
      {"no_leak", vramtrack::NoLeakSample},
      {"too_short", vramtrack::TooShortSample},
      {"oom", vramtrack::OutOfMemorySample},
      {"many", vramtrack::ManySitesSample},
      {"hostile", vramtrack::HostileTextSample},
      {"empty", vramtrack::EmptySample},
      {"pytorch", vramtrack::PyTorchSample},
      {"ranks", vramtrack::RanksSample},
      {"markup", vramtrack::MarkupSample},
      {"cupti", vramtrack::CuptiSample},
      {"large_job", vramtrack::LargeJobSample},
      {"holders", vramtrack::HolderSample},
      {"held_oom", HeldOomSample},
      {"shared_card", vramtrack::SharedCardSample},
  };
  if (argc == 2 && std::string(argv[1]) == "--names") {
    for (const auto& [name, sample] : samples) puts(name.c_str());
    return 0;
  }
  auto sample = argc == 3 ? samples.find(argv[1]) : samples.end();
  if (sample == samples.end()) {
    fprintf(stderr, "usage: print_sample NAME json|text|short|html\n");
    return 2;
  }
  std::string format = argv[2];
  vramtrack::Report report = sample->second();
  vramtrack::TextStyle style = vramtrack::DetectStyle(STDOUT_FILENO, vramtrack::ColorMode::kAuto);
  std::string text = format == "json"    ? vramtrack::RenderJson(report)
                     : format == "html"  ? vramtrack::RenderHtml(report)
                     : format == "short" ? vramtrack::RenderText(report, style)
                                         : vramtrack::RenderText(report, style, {10, /*verbose=*/true, {}, false});
  return fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
