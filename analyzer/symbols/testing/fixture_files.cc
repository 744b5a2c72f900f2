// SPDX-License-Identifier: Apache-2.0

#include "analyzer/symbols/testing/fixture_files.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <sstream>

namespace vramtrack {
namespace {

void Check(bool condition, const std::string& what) {
  if (condition) return;
  std::cerr << "fixture: " << what << std::endl;
  std::abort();
}

void WithElf(const std::string& path, const std::function<void(Elf*)>& use) {
  elf_version(EV_CURRENT);
  int fd = open(path.c_str(), O_RDONLY);
  Elf* elf = elf_begin(fd, ELF_C_READ, nullptr);
  Check(elf != nullptr, "cannot read " + path);
  use(elf);
  elf_end(elf);
  close(fd);
}

}  // namespace

std::string FixturePath(const std::string& name) {
  return std::filesystem::current_path().string() + "/analyzer/symbols/fixtures/" + name;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Check(file.good(), "cannot open " + path);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

std::string WriteFile(const std::string& path, const std::string& bytes) {
  for (size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    mkdir(path.substr(0, slash).c_str(), 0777);
  }
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << bytes;
  file.close();
  Check(file.good(), "cannot write " + path);
  return path;
}

std::string NewFolder() {
  const char* root = std::getenv("TEST_TMPDIR");
  std::string name = std::string(root != nullptr ? root : "/tmp") + "/symbols.XXXXXX";
  Check(mkdtemp(name.data()) != nullptr, "cannot make " + name);
  return name;
}

std::string OutputOf(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  Check(pipe != nullptr, "cannot run " + command);
  std::string output;
  char buffer[4096];
  while (size_t count = std::fread(buffer, 1, sizeof(buffer), pipe)) output.append(buffer, count);
  Check(pclose(pipe) == 0, "failed: " + command);
  return output;
}

std::string RawBuildId(const std::string& path) {
  std::string id;
  WithElf(path, [&id](Elf* elf) {
    const void* bytes = nullptr;
    ssize_t size = dwelf_elf_gnu_build_id(elf, &bytes);
    if (size > 0) id.assign(static_cast<const char*>(bytes), static_cast<size_t>(size));
  });
  Check(!id.empty(), "no build id in " + path);
  return id;
}

std::string WithOtherBuildId(std::string bytes, const std::string& raw_build_id) {
  size_t at = bytes.find(raw_build_id);
  Check(at != std::string::npos, "build id not found");
  bytes[at] = static_cast<char>(bytes[at] ^ 0xff);
  return bytes;
}

std::pair<uint64_t, uint64_t> TextRange(const std::string& path) {
  std::pair<uint64_t, uint64_t> range;
  WithElf(path, [&range](Elf* elf) {
    size_t names = 0;
    Check(elf_getshdrstrndx(elf, &names) == 0, "no section names");
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
      GElf_Shdr header;
      gelf_getshdr(section, &header);
      if (std::string(elf_strptr(elf, names, header.sh_name)) != ".text") continue;
      range = {header.sh_addr, header.sh_addr + header.sh_size};
    }
  });
  Check(range.first < range.second, "no .text in " + path);
  return range;
}

std::vector<MarkedCall> MarkedCalls() {
  std::istringstream lines(OutputOf(FixturePath("shapes")));
  std::vector<MarkedCall> calls;
  MarkedCall call;
  while (lines >> std::hex >> call.return_address >> std::dec >> call.line) calls.push_back(call);
  Check(!calls.empty(), "the fixture marks no call");
  return calls;
}

}  // namespace vramtrack
