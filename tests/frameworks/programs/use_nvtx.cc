// SPDX-License-Identifier: Apache-2.0
//
// Sets ranges and marks in every way that NVTX's own header has. With "many" as its argument it makes very many names;
// with "early" it sets most of its marks, in two threads, before its first CUDA call, and with "none" it never makes
// one.
#include <cuda_runtime_api.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>

#include "vramtrack/vramtrack.h"

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>

namespace {

nvtxEventAttributes_t Attributes() {
  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  return attributes;
}

nvtxEventAttributes_t Ascii(const char* text) {
  nvtxEventAttributes_t attributes = Attributes();
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = text;
  return attributes;
}

nvtxEventAttributes_t Registered(nvtxStringHandle_t text) {
  nvtxEventAttributes_t attributes = Attributes();
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = text;
  return attributes;
}

void DefaultDomain() {
  nvtxRangePushA("step 17");
  nvtxMarkA("epoch 3 step 18");
  nvtxEventAttributes_t attributes = Ascii("with attributes");
  nvtxRangePushEx(&attributes);
  nvtxDomainRangePushEx(nullptr, &attributes);
  attributes = Registered(nvtxDomainRegisterStringA(nullptr, "registered 5"));
  nvtxMarkEx(&attributes);
  nvtxDomainMarkEx(nullptr, &attributes);
  attributes = Registered(nvtxDomainRegisterStringW(nullptr, L"wide and registered"));
  nvtxMarkEx(&attributes);
  nvtxDomainRangePop(nullptr);
  nvtxRangePop();
  nvtxRangePushW(L"wide \u00e9\u20ac\U0001f600 4");
  nvtxRangePop();
  attributes.messageType = NVTX_MESSAGE_TYPE_UNICODE;
  attributes.message.unicode = L"wide";
  nvtxMarkEx(&attributes);
  nvtxMarkW(L"wide");
  attributes.messageType = NVTX_MESSAGE_UNKNOWN;
  nvtxMarkEx(&attributes);
  nvtxMarkEx(nullptr);
  nvtxMarkA("request 123456789012345678901234567890");
}

void OtherDomains() {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("a library"), other = nvtxDomainCreateW(L"another");
  nvtxEventAttributes_t attributes = Registered(nvtxDomainRegisterStringA(domain, "its step 3"));
  nvtxDomainRangePushEx(domain, &attributes);
  nvtxDomainRangePushEx(other, &attributes);
  nvtxDomainRangePop(domain);
  nvtxDomainRangePop(other);
  nvtxDomainMarkEx(domain, &attributes);
  nvtxDomainDestroy(domain);
  attributes = Ascii("its step 4");
  nvtxDomainRangePushEx(nvtxDomainCreateA("a library"), &attributes);
  nvtxDomainRangePushEx(nvtxDomainCreateA(""), nullptr);
}

void StartsAndEnds() {
  nvtxEventAttributes_t attributes = Ascii("asynchronous 9");
  const nvtxRangeId_t first = nvtxRangeStartA("request 7"), second = nvtxRangeStartEx(&attributes),
                      third = nvtxRangeStartW(L"wide");
  nvtxDomainHandle_t domain = nvtxDomainCreateA("a library");
  const nvtxRangeId_t fourth = nvtxDomainRangeStartEx(domain, &attributes);
  std::thread([&] { nvtxRangeEnd(first); }).join();
  nvtxDomainRangeEnd(domain, fourth);
  nvtxRangeEnd(third);
  nvtxRangeEnd(0);
  nvtxRangeEnd(12345678);
  (void)second;  // never ends
}

// Of each kind of name very many: with a number, with digits in its words, and with none at all.
void ManyNames() {
  nvtxDomainHandle_t server = nvtxDomainCreateA("server");
  for (int i = 0; i < 300000; ++i) {
    const std::string answer = "answer " + std::to_string(i);
    nvtxEventAttributes_t answers = Ascii(answer.c_str());
    const nvtxRangeId_t range = nvtxDomainRangeStartEx(server, &answers);
    if (i % 3 != 0) nvtxDomainRangeEnd(server, range);
    VRAMTRACK_STEP(static_cast<uint64_t>(i), 0);
    nvtxMarkA(("step " + std::to_string(i)).c_str());
    char hexadecimal[32];
    std::snprintf(hexadecimal, sizeof hexadecimal, "job-%08x", static_cast<unsigned>(i) * 2654435761u);
    nvtxMarkA(hexadecimal);
    std::string letters;
    for (int rest = i; rest > 0; rest /= 26) letters += static_cast<char>('a' + rest % 26);
    nvtxMarkA(letters.c_str());
    nvtxEventAttributes_t attributes = Registered(nvtxDomainRegisterStringA(nullptr, letters.c_str()));
    nvtxMarkEx(&attributes);
    nvtxDomainCreateA(letters.c_str());
  }
}

// What is open at the end: "run", and "phase #" within it. Far more marks than are kept.
void EarlyMarks() {
  nvtxRangePushA("run");
  nvtxEventAttributes_t attributes = Ascii("in a domain");
  nvtxDomainMarkEx(nvtxDomainCreateA("a library"), &attributes);
  std::thread([] { nvtxMarkA("of a thread that has ended"); }).join();
  for (int i = 0; i < 700; ++i) nvtxRangePushA("deep");
  for (int i = 0; i < 2000; ++i) {
    nvtxRangePushA(("load file " + std::to_string(i)).c_str());
    nvtxRangePop();
  }
  for (int i = 0; i < 700; ++i) nvtxRangePop();
  nvtxRangePushA("phase 2");
  for (uint64_t i = 0; i < 300; ++i) VRAMTRACK_STEP(i, 0.5);
}

int RunEarly(bool use_cuda) {
  EarlyMarks();
  if (!use_cuda) return 0;
  // A child has none of them.
  const pid_t child = fork();
  void* memory = nullptr;
  if (cudaMalloc(&memory, 1000) != cudaSuccess) return 1;
  nvtxRangePop();
  nvtxRangePop();
  if (child == 0) return 0;
  int status;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "early" || what == "none") return RunEarly(what == "early");
  nvtxRangePushA("before CUDA");
  void* memory = nullptr;
  if (cudaMalloc(&memory, 1000) != cudaSuccess) return 1;
  nvtxRangePop();
  if (what == "many") {
    ManyNames();
    return 0;
  }
  DefaultDomain();
  OtherDomains();
  StartsAndEnds();
  std::printf("%d %d\n", nvtxRangePushA("level"), nvtxRangePop());
}
#else
int main() { std::printf("without NVTX\n"); }
#endif
