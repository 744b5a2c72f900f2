// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ingest/definitions.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "proto/read_message.h"
#include "proto/schema_constants.h"

namespace vramtrack {
namespace {

using protozero::pbf_reader;

void ReadThread(pbf_reader in, std::map<uint32_t, TracedThread>* threads) {
  namespace f = schema::thread_field;
  uint32_t index = 0;
  TracedThread thread;
  ReadMessage(in, Field(f::index, &index), Field(f::tid, &thread.tid), Field(f::name, &thread.name));
  (*threads)[index] = std::move(thread);
}

void ReadModule(pbf_reader in, LoadedModules* modules) {
  namespace f = schema::module_field;
  TracedModule module;
  std::vector<uint64_t> starts, ends;
  ReadMessage(in, Field(f::id, &module.id), Field(f::first_epoch, &module.first_epoch), Field(f::path, &module.path),
              Field(f::build_id, &module.build_id), FixedField(f::text_hash, &module.text_hash),
              Field(f::file_bytes, &module.file_bytes), Field(f::modified_ns, &module.modified_ns),
              FixedField(f::load_bias, &module.load_bias), FixedField(f::start, &starts), FixedField(f::end, &ends));
  for (size_t i = 0; i < starts.size() && i < ends.size(); ++i) module.ranges.push_back({starts[i], ends[i]});
  modules->Add(std::move(module));
}

void ReadModuleGone(pbf_reader in, LoadedModules* modules) {
  uint32_t id = 0, epoch = 0;
  ReadMessage(in, Field(schema::moduleGone_field::id, &id), Field(schema::moduleGone_field::epoch, &epoch));
  modules->SetGone(id, epoch);
}

// Empty if there is none.
std::string UuidText(std::string_view bytes) {
  constexpr size_t kBytes = 16;
  if (bytes.size() != kBytes || bytes.find_first_not_of('\0') == std::string::npos) return "";
  std::string text = absl::BytesToHexString({bytes.data(), bytes.size()});
  for (const size_t digits : {20, 16, 12, 8}) text.insert(digits, "-");
  return "GPU-" + text;
}

void ReadDevice(pbf_reader in, std::map<uint32_t, TracedDevice>* devices) {
  namespace f = schema::device_field;
  uint32_t index = 0;
  TracedDevice device;
  ReadMessage(in, Field(f::index, &index), Field(f::name, &device.name),
              FixedField(f::total_bytes, &device.total_bytes), Field(f::uuid, &device.uuid),
              Field(f::integrated, &device.integrated));
  device.uuid = UuidText(device.uuid);
  // Name and size may come from different calls of the program.
  TracedDevice& known = (*devices)[index];
  if (!device.uuid.empty()) known.uuid = std::move(device.uuid);
  if (!device.name.empty()) known.name = std::move(device.name);
  if (device.total_bytes != 0) known.total_bytes = device.total_bytes;
  known.integrated |= device.integrated;
}

// `before`: the frames of the stack defined just before in this message; they become those of this one.
void ReadStack(pbf_reader in, std::vector<uint64_t>* before, uint64_t* frames_left, TracedStacks* stacks) {
  namespace f = schema::stack_field;
  uint32_t id = 0, module_epoch = 0, shared_outer = 0;
  bool truncated = false;
  std::vector<uint64_t> frames;
  const auto read_frames = [&frames](pbf_reader& packed) {
    uint64_t address = 0;
    for (const int64_t delta : packed.get_packed_sint64()) {
      address += static_cast<uint64_t>(delta);
      frames.push_back(address);
    }
  };
  ReadMessage(in, Field(f::id, &id), Field(f::module_epoch, &module_epoch), Field(f::truncated, &truncated),
              Field(f::shared_outer, &shared_outer), Field(f::frames, read_frames));
  if (shared_outer > before->size()) throw protozero::invalid_length_exception();
  if (frames.size() + shared_outer > *frames_left) throw protozero::invalid_length_exception();
  *frames_left -= frames.size() + shared_outer;
  frames.insert(frames.end(), before->end() - static_cast<std::ptrdiff_t>(shared_outer), before->end());
  stacks->Define(id, frames.data(), frames.size(), module_epoch, truncated);
  *before = std::move(frames);
}

void ReadCode(pbf_reader in, TracedCodes* codes) {
  namespace f = schema::code_field;
  uint32_t id = 0;
  TracedCode code;
  // A message of these two fields alone adds to the lines of a code object.
  bool more_lines_only = true;
  const auto add_lines = [&code](pbf_reader& bytes) { code.lines += bytes.get_bytes(); };
  while (in.next()) {
    if (ReadAny(in, Field(f::id, &id), Field(f::lines, add_lines))) continue;
    more_lines_only = false;
    uint32_t table = 0;
    if (!ReadAny(in, Field(f::name, &code.name), Field(f::file, &code.file), Field(f::first_line, &code.first_line),
                 Field(f::table, &table))) {
      in.skip();
    } else if (table != 0 && table <= schema::LINES_LOCATIONS) {
      code.table = static_cast<schema::LineTable>(table);
    }
  }
  if (more_lines_only) {
    codes->Append(id, code.lines);
  } else {
    codes->Define(id, std::move(code));
  }
}

void ReadPythonStack(pbf_reader in, TracedStacks* stacks) {
  namespace f = schema::pythonStack_field;
  uint32_t id = 0;
  bool truncated = false;
  std::vector<uint32_t> codes, instructions;
  ReadMessage(in, Field(f::id, &id), Field(f::truncated, &truncated), Field(f::code, &codes),
              Field(f::instruction, &instructions));
  if (codes.size() != instructions.size()) throw protozero::invalid_length_exception();
  stacks->DefinePython(id, codes, instructions, truncated);
}

void ReadJoinedStack(pbf_reader in, TracedStacks* stacks) {
  namespace f = schema::joinedStack_field;
  uint32_t id = 0, native = 0, python = 0, forward = 0, node = 0;
  ReadMessage(in, Field(f::id, &id), Field(f::native, &native), Field(f::python, &python), Field(f::forward, &forward),
              Field(f::node, &node));
  if (node > schema::NODE_ACCUMULATE) node = schema::NODE_FUNCTION;  // a newer recorder's kind of node
  stacks->DefineJoined(id, native, python, forward, static_cast<schema::GraphNode>(node));
}

// Of a name in a domain, adds the ids of both to `*domains`.
void ReadName(pbf_reader in, std::map<uint32_t, std::string>* names, std::map<uint32_t, uint32_t>* domains) {
  namespace f = schema::name_field;
  uint32_t id = 0, domain = 0;
  std::string text;
  ReadMessage(in, Field(f::id, &id), Field(f::text, &text), Field(f::domain, &domain));
  if (domain != 0) domains->emplace(id, domain);
  names->emplace(id, std::move(text));
}

void ReadVersion(pbf_reader in, std::map<std::string, uint32_t>* versions) {
  std::string of;
  uint32_t number = 0;
  ReadMessage(in, Field(schema::version_field::of, &of), Field(schema::version_field::number, &number));
  (*versions)[of] = number;
}

void ReadUnseen(pbf_reader in, std::map<std::string, uint32_t>* unseen) {
  std::string library;
  uint32_t reason = 0;
  ReadMessage(in, Field(schema::unseen_field::library, &library), Field(schema::unseen_field::reason, &reason));
  (*unseen)[library] = reason;
}

void ReadAllocator(pbf_reader in, std::vector<TracedAllocator>* allocators) {
  namespace f = schema::allocator_field;
  TracedAllocator allocator;
  ReadMessage(in, Field(f::framework, &allocator.framework), Field(f::name, &allocator.name),
              Field(f::device, &allocator.device), Field(f::by_handle, &allocator.by_handle));
  for (const TracedAllocator& known : *allocators) {
    if (known.framework == allocator.framework && known.name == allocator.name && known.device == allocator.device) {
      return;
    }
  }
  allocators->push_back(std::move(allocator));
}

HostReading ReadHostReading(pbf_reader in) {
  namespace f = schema::hostReading_field;
  HostReading reading;
  ReadMessage(in, Field(f::time, &reading.time), Field(f::resident, &reading.resident),
              Field(f::shared, &reading.shared));
  return reading;
}

std::pair<std::string, std::string> ReadVariable(pbf_reader in) {
  std::pair<std::string, std::string> variable;
  ReadMessage(in, Field(schema::variable_field::name, &variable.first),
              Field(schema::variable_field::value, &variable.second));
  return variable;
}

// libtorch_cuda.so, in some versions in parts: libtorch_cuda_cpp.so.
bool IsTorchCuda(std::string_view path) {
  constexpr std::string_view kName = "libtorch_cuda";
  return path.substr(path.rfind('/') + 1).substr(0, kName.size()) == kName;
}

}  // namespace

void ReadProcess(std::string_view encoded, TracedProcess* process) {
  namespace f = schema::process_field;
  process->command.clear();
  process->environment.clear();
  process->rank = 0;  // proto3 leaves out a zero
  const auto read_rank = [process](pbf_reader& in) { process->rank = in.get_sint32(); };
  const auto read_age = [process](pbf_reader& in) {
    process->joined_after_s = static_cast<double>(in.get_uint64()) / 1000;
  };
  ReadMessage(pbf_reader(encoded.data(), encoded.size()), Field(f::pid, &process->pid),
              Field(f::parent_pid, &process->parent_pid), Field(f::command, &process->command),
              Field(f::executable, &process->executable), Field(f::host, &process->host),
              Field(f::working_directory, &process->working_directory),
              RowField(f::environment, &process->environment, ReadVariable), Field(f::rank, read_rank),
              Field(f::tracer_version, &process->tracer_version), Field(f::driver_version, &process->driver_version),
              Field(f::run_id, &process->run_id), Field(f::joined_after_ms, read_age));
  if (*process->rank < 0) process->rank.reset();
}

const TracedAllocator* Definitions::AllocatorOn(uint32_t device) const {
  for (const TracedAllocator& allocator : allocators) {
    if (allocator.device == device) return &allocator;
  }
  return nullptr;
}

bool Definitions::Add(std::string_view encoded) {
  namespace f = schema::definitions_field;
  std::vector<uint64_t> frames;
  frames_left_ += kMaxFramesPerByte * encoded.size();
  try {
    // A field that is a message, which `read` adds to `to`.
    const auto field = [](uint32_t number, auto read, auto*... to) {
      return Field(number, [=](pbf_reader& in) { read(in.get_message(), to...); });
    };
    ReadMessage(pbf_reader(encoded.data(), encoded.size()),
                Field(f::process, [this](pbf_reader& in) { ReadProcess(in.get_string(), &process); }),
                field(f::threads, ReadThread, &threads), field(f::modules, ReadModule, &modules),
                field(f::modules_gone, ReadModuleGone, &modules), field(f::devices, ReadDevice, &devices),
                field(f::stacks, ReadStack, &frames, &frames_left_, &stacks),
                field(f::versions, ReadVersion, &process.versions), field(f::unseen, ReadUnseen, &process.unseen),
                field(f::codes, ReadCode, &codes), field(f::python_stacks, ReadPythonStack, &stacks),
                field(f::joined_stacks, ReadJoinedStack, &stacks), field(f::allocators, ReadAllocator, &allocators),
                RowField(f::host_readings, &host_readings, ReadHostReading),
                field(f::names, ReadName, &names, &domains));
  } catch (const protozero::exception&) {
    return false;
  }
  return true;
}

void Definitions::Freeze() {
  modules.Freeze();
  codes.Freeze();
  FindTorch();
  stacks.Freeze(modules, codes);
  NameDomains();
  std::stable_sort(host_readings.begin(), host_readings.end(),
                   [](const HostReading& a, const HostReading& b) { return a.time < b.time; });
}

void Definitions::FindTorch() {
  for (const TracedModule& module : modules.modules()) {
    if (torch_pinned_pool_ == kEmptyStack && IsTorchCuda(module.path)) torch_pinned_pool_ = stacks.AddEmpty();
  }
}

bool Definitions::IsTorchPinned(StackIndex index) const {
  if (torch_pinned_pool_ == kEmptyStack) return false;
  const StackRef stack = stacks.Get(index).native;
  if (stack.count == 0) return false;
  const int module = modules.Find(stack.frames[0] - 1, stack.module_epoch);
  return module >= 0 && IsTorchCuda(modules.modules()[static_cast<size_t>(module)].path);
}

void Definitions::NameDomains() {
  std::map<uint32_t, std::string> prefixes;
  for (const auto& [name, domain] : domains) {
    const auto found = names.find(domain);
    const bool known = found != names.end() && domains.count(domain) != 0;
    prefixes.emplace(domain, (known ? found->second.substr(0, kMaxDomainBytes) : "?") + ":");
  }
  for (const auto& [name, domain] : domains) {
    std::string& text = names[name];
    text = name == domain ? prefixes[domain] : prefixes[domain] + text;
  }
}

}  // namespace vramtrack
