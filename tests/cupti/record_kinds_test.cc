// SPDX-License-Identifier: Apache-2.0
//
// Each kind of record that --cupti-records can ask for, from a simulated call to what `vramtrack info` and `vramtrack
// dump` show.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace vramtrack {
namespace {

std::string PathOf(const char* variable) {
  char* real = realpath(getenv(variable), nullptr);
  std::string path = real == nullptr ? "" : real;
  free(real);
  return path;
}

std::string Folder(const std::string& path) { return path.substr(0, path.rfind('/')); }

// A line of `vramtrack dump`.
struct Record {
  std::string kind;
  uint32_t operation, device;
  std::string bytes, address, duration;
  uint32_t correlation;
  std::string details;
};

struct Traced {
  std::string out, err, info;
  std::map<std::string, std::vector<Record>> records;  // by kind
  uint64_t Address(int word) const {
    std::istringstream words(out);
    uint64_t address = 0;
    for (int i = 0; i <= word; ++i) words >> std::hex >> address;
    return address;
  }
};

std::string Output(const std::string& command) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  std::array<char, 4096> part;
  while (const size_t size = fread(part.data(), 1, part.size(), pipe)) text.append(part.data(), size);
  EXPECT_EQ(pclose(pipe), 0) << command;
  return text;
}

std::string Read(const std::string& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// every_kind under `vramtrack run --cupti --cupti-records KINDS`, with the simulated CUPTI of that major version.
Traced RunEveryKind(const std::string& kinds, const std::string& variables = "", int major = 13) {
  static int runs = 0;
  const std::string folder = std::string(getenv("TEST_TMPDIR")) + "/kinds" + std::to_string(++runs);
  // The name that is asked for first: the machine may have a CUPTI of its own.
  const std::string cupti = folder + "/libcupti.so.13";
  EXPECT_EQ(
      system(("mkdir -p " + folder + " && ln -sf " + PathOf(major == 13 ? "SIMCUPTI_13" : "SIMCUPTI_12") + " " + cupti)
                 .c_str()),
      0);
  const std::string vramtrack = PathOf("VRAMTRACK_PROGRAM");
  Traced run;
  run.out = Output("LD_LIBRARY_PATH=" + Folder(PathOf("SIMCUDA")) + ":" + folder +
                   " VRAMTRACK_LIBRARY=" + PathOf("PRELOAD_LIBRARY") + " " + variables + " " + vramtrack +
                   " run --cupti --cupti-records " + kinds + " -o " + folder + "/trace -- sh -c 'exec " +
                   PathOf("EVERY_KIND") + " 2>" + folder + "/err' 2>/dev/null");
  run.err = Read(folder + "/err");
  run.info = Output(vramtrack + " info " + folder + "/trace");
  std::istringstream dump(Output(vramtrack + " dump " + folder + "/trace"));
  bool records = false;
  for (std::string line; std::getline(dump, line);) {
    if (line.find("duration ns") != std::string::npos) {
      records = true;
    } else if (records && line[0] != '#') {
      std::istringstream words(line);
      std::string time;
      Record record;
      words >> time >> record.kind >> record.operation >> record.device >> record.bytes >> record.address >>
          record.duration >> record.correlation;
      std::getline(words >> std::ws, record.details);
      run.records[record.kind].push_back(record);
    }
  }
  return run;
}

// How many of a kind `info` counts.
void ExpectInInfo(const Traced& run, const std::string& kind) {
  ASSERT_TRUE(run.records.count(kind)) << run.err << run.info;
  EXPECT_NE(run.info.find(std::to_string(run.records.at(kind).size()) + " " + kind), std::string::npos) << run.info;
}

std::vector<std::string> Details(const Traced& run, const std::string& kind) {
  std::vector<std::string> details;
  if (run.records.count(kind) == 0) return details;
  for (const Record& record : run.records.at(kind)) details.push_back(record.details);
  return details;
}

TEST(RecordKinds, CallsAreThoseOfTheMemoryFunctionsByName) {
  const Traced run = RunEveryKind("calls,memory");
  EXPECT_EQ(run.err, "");
  ExpectInInfo(run, "runtime_call");
  ExpectInInfo(run, "driver_call");
  std::vector<std::string> names;
  for (const Record& record : run.records.at("runtime_call")) {
    names.push_back(record.details.substr(0, record.details.find(' ')));
    EXPECT_NE(record.details.find(" stream "), std::string::npos) << "the thread";
  }
  // And no others.
  EXPECT_EQ(names, (std::vector<std::string>{"cudaMalloc", "cudaMalloc", "cudaFree", "cudaMalloc", "cudaFree",
                                             "cudaMallocManaged"}));
  EXPECT_EQ(run.records.at("runtime_call")[0].operation, 20u);
  ASSERT_EQ(run.records.at("driver_call").size(), 2u);
  EXPECT_EQ(run.records.at("driver_call")[0].operation, 243u);
  EXPECT_EQ(run.records.at("driver_call")[0].details.rfind("cuMemAlloc_v2 ", 0), 0u);
  EXPECT_EQ(run.records.at("driver_call")[1].details.rfind("cuMemFree_v2 ", 0), 0u);
  // What a call gave out is tied to it.
  int tied = 0;
  for (const Record& memory : run.records.at("memory")) {
    if (memory.bytes == "4096" && memory.operation == 1) {
      EXPECT_EQ(memory.correlation, run.records.at("runtime_call")[1].correlation);
      ++tied;
    }
    if (memory.bytes == "65536" && memory.operation == 1) {
      EXPECT_EQ(memory.correlation, run.records.at("driver_call")[0].correlation);
      ++tied;
    }
  }
  EXPECT_EQ(tied, 2);
}

TEST(RecordKinds, AReleaseThatCannotChooseCallsRecordsAllAndSaysSo) {
  const Traced run = RunEveryKind("calls", "", 12);
  EXPECT_EQ(run.err, "vramtrack: this CUPTI cannot record only memory calls; all API calls are recorded\n");
  ExpectInInfo(run, "runtime_call");
  EXPECT_GT(run.records.at("runtime_call").size(), 100u) << "prefetches, synchronizations and so on";
  int allocations = 0;
  for (const Record& record : run.records.at("driver_call")) {
    allocations += record.details.rfind("cuMemAlloc_v2 ", 0) == 0 ? 1 : 0;
  }
  EXPECT_EQ(allocations, 1) << "what the runtime calls is no call of the program's";
}

TEST(RecordKinds, Synchronization) {
  const Traced run = RunEveryKind("synchronization");
  EXPECT_EQ(run.err, "");
  ExpectInInfo(run, "synchronization");
  ASSERT_EQ(run.records.at("synchronization").size(), 4u);
  EXPECT_EQ(run.records.at("synchronization")[0].details.rfind("stream waits for event stream ", 0), 0u);
  EXPECT_EQ(run.records.at("synchronization")[1].details.rfind("stream stream ", 0), 0u);
  EXPECT_EQ(run.records.at("synchronization")[2].details, "event");
  EXPECT_EQ(run.records.at("synchronization")[3].details, "context");
  for (const Record& record : run.records.at("synchronization")) EXPECT_NE(record.correlation, 0u);
}

TEST(RecordKinds, GraphLaunches) {
  const Traced run = RunEveryKind("graphs");
  EXPECT_EQ(run.err, "");
  ExpectInInfo(run, "graph");
  ASSERT_EQ(run.records.at("graph").size(), 3u);
  for (const Record& record : run.records.at("graph")) {
    EXPECT_EQ(record.operation, 1u) << "the graph's number";
    EXPECT_EQ(record.device, 0u);
    EXPECT_EQ(record.duration, "1000");
    EXPECT_EQ(record.details.rfind("stream ", 0), 0u);
  }
}

TEST(RecordKinds, UnifiedMemoryOnceTheDriverIsInitialized) {
  const Traced run = RunEveryKind("unified");
  EXPECT_EQ(run.err, "");
  ExpectInInfo(run, "unified_memory");
  bool in = false, out = false;
  for (const Record& record : run.records.at("unified_memory")) {
    char address[32];
    snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(run.Address(1)));
    EXPECT_EQ(record.address, address);
    EXPECT_EQ(record.bytes, "1048576");
    EXPECT_EQ(record.duration, "1000");
    in |= record.details == "bytes host to device";
    out |= record.details == "bytes device to host";
  }
  EXPECT_TRUE(in && out);
}

TEST(RecordKinds, ExternalIdsComeWithTheCallsThatTheyAreOf) {
  const Traced run = RunEveryKind("external");
  EXPECT_EQ(run.err, "");
  ExpectInInfo(run, "external");
  ASSERT_EQ(run.records.at("external").size(), 2u);
  ASSERT_EQ(run.records.at("runtime_call").size(), 6u);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(run.records.at("external")[i].operation, 4u) << "whose numbering";
    EXPECT_EQ(run.records.at("external")[i].bytes, "4711");
    EXPECT_EQ(run.records.at("external")[i].correlation, run.records.at("runtime_call")[3 + i].correlation);
  }
}

TEST(RecordKinds, MarkersWhereNvtxIsLedToCupti) {
  const Traced run = RunEveryKind("markers", "NVTX_INJECTION64_PATH=libcupti.so.13");
  if (run.records.count("marker") == 0 && Read(PathOf("EVERY_KIND")).find("a mark") == std::string::npos) {
    GTEST_SKIP() << "made without NVTX's header";
  }
  EXPECT_EQ(run.err, "");
  ExpectInInfo(run, "marker");
  EXPECT_EQ(Details(run, "marker"), (std::vector<std::string>{"mark a mark", "range begins a range", "range ends"}));
  EXPECT_EQ(run.records.at("marker")[1].correlation, run.records.at("marker")[2].correlation) << "the range's number";
}

TEST(RecordKinds, MarkersLeaveNvtxToWhoHasIt) {
  // `vramtrack run` has NVTX for its own marks of steps.
  const Traced run = RunEveryKind("memory,markers");
  EXPECT_EQ(run.records.count("marker"), 0u);
  EXPECT_NE(run.err.find("NVTX_INJECTION64_PATH"), std::string::npos) << run.err;
  EXPECT_EQ(run.err.find('\n'), run.err.size() - 1) << "one line";
  EXPECT_EQ(run.records.count("memory"), 1u) << "the others are there";
}

TEST(RecordKinds, Fills) {
  const Traced run = RunEveryKind("memory,pools,fills");
  EXPECT_EQ(run.err, "");
  ExpectInInfo(run, "memset");
  ASSERT_GE(run.records.at("memset").size(), 1u);
  EXPECT_EQ(run.records.at("memset")[0].bytes, "512");
  EXPECT_EQ(run.records.at("memset")[0].details.rfind("stream ", 0), 0u);
}

}  // namespace
}  // namespace vramtrack
