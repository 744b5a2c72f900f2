// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ingest/definitions.h"

#include <algorithm>

#include "analyzer/ingest/python_definitions.h"
#include "proto/pbf_reader.h"
#include "proto/schema_constants.h"

namespace vramtrack {
namespace {

using protozero::pbf_reader;

void ReadThread(pbf_reader in, std::map<uint32_t, TracedThread>* threads) {
  namespace f = schema::thread_field;
  uint32_t index = 0;
  TracedThread thread;
  while (in.next()) {
    switch (in.tag()) {
      case f::index:
        index = in.get_uint32();
        break;
      case f::tid:
        thread.tid = in.get_uint32();
        break;
      case f::name:
        thread.name = in.get_string();
        break;
      default:
        in.skip();
    }
  }
  (*threads)[index] = std::move(thread);
}

void ReadModule(pbf_reader in, LoadedModules* modules) {
  namespace f = schema::module_field;
  TracedModule module;
  std::vector<uint64_t> starts, ends;
  const auto read_fixed = [&in](std::vector<uint64_t>* to) {
    if (in.wire_type() != protozero::pbf_wire_type::length_delimited) {
      to->push_back(in.get_fixed64());  // one by one is as good as packed
      return;
    }
    for (const uint64_t value : in.get_packed_fixed64()) to->push_back(value);
  };
  while (in.next()) {
    switch (in.tag()) {
      case f::id:
        module.id = in.get_uint32();
        break;
      case f::first_epoch:
        module.first_epoch = in.get_uint32();
        break;
      case f::path:
        module.path = in.get_string();
        break;
      case f::build_id:
        module.build_id = in.get_bytes();
        break;
      case f::text_hash:
        module.text_hash = in.get_fixed64();
        break;
      case f::file_bytes:
        module.file_bytes = in.get_uint64();
        break;
      case f::modified_ns:
        module.modified_ns = in.get_uint64();
        break;
      case f::load_bias:
        module.load_bias = in.get_fixed64();
        break;
      case f::start:
        read_fixed(&starts);
        break;
      case f::end:
        read_fixed(&ends);
        break;
      default:
        in.skip();
    }
  }
  for (size_t i = 0; i < starts.size() && i < ends.size(); ++i) module.ranges.push_back({starts[i], ends[i]});
  modules->Add(std::move(module));
}

void ReadModuleGone(pbf_reader in, LoadedModules* modules) {
  uint32_t id = 0, epoch = 0;
  while (in.next()) {
    switch (in.tag()) {
      case schema::moduleGone_field::id:
        id = in.get_uint32();
        break;
      case schema::moduleGone_field::epoch:
        epoch = in.get_uint32();
        break;
      default:
        in.skip();
    }
  }
  modules->SetGone(id, epoch);
}

// Empty if there is none.
std::string UuidText(const std::string& bytes) {
  constexpr size_t kBytes = 16;
  constexpr char kDigits[] = "0123456789abcdef";
  if (bytes.size() != kBytes || bytes.find_first_not_of('\0') == std::string::npos) return "";
  std::string text = "GPU-";
  for (size_t i = 0; i < kBytes; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    const auto byte = static_cast<unsigned char>(bytes[i]);
    text += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return text;
}

void ReadDevice(pbf_reader in, std::map<uint32_t, TracedDevice>* devices) {
  namespace f = schema::device_field;
  uint32_t index = 0;
  TracedDevice device;
  while (in.next()) {
    switch (in.tag()) {
      case f::index:
        index = in.get_uint32();
        break;
      case f::name:
        device.name = in.get_string();
        break;
      case f::total_bytes:
        device.total_bytes = in.get_fixed64();
        break;
      case f::uuid:
        device.uuid = UuidText(in.get_bytes());
        break;
      case f::integrated:
        device.integrated = in.get_bool();
        break;
      default:
        in.skip();
    }
  }
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
  uint32_t id = 0, module_epoch = 0;
  uint64_t shared_outer = 0;
  bool truncated = false;
  std::vector<uint64_t> frames;
  while (in.next()) {
    switch (in.tag()) {
      case f::id:
        id = in.get_uint32();
        break;
      case f::module_epoch:
        module_epoch = in.get_uint32();
        break;
      case f::truncated:
        truncated = in.get_bool();
        break;
      case f::shared_outer:
        shared_outer = in.get_uint32();
        break;
      case f::frames: {
        uint64_t address = 0;
        for (const int64_t delta : in.get_packed_sint64()) {
          address += static_cast<uint64_t>(delta);
          frames.push_back(address);
        }
        break;
      }
      default:
        in.skip();
    }
  }
  if (shared_outer > before->size()) throw protozero::invalid_length_exception();
  if (frames.size() + shared_outer > *frames_left) throw protozero::invalid_length_exception();
  *frames_left -= frames.size() + shared_outer;
  frames.insert(frames.end(), before->end() - static_cast<std::ptrdiff_t>(shared_outer), before->end());
  stacks->Define(id, frames.data(), frames.size(), module_epoch, truncated);
  *before = std::move(frames);
}

void ReadVersion(pbf_reader in, std::map<std::string, uint32_t>* versions) {
  std::string of;
  uint32_t number = 0;
  while (in.next()) {
    switch (in.tag()) {
      case schema::version_field::of:
        of = in.get_string();
        break;
      case schema::version_field::number:
        number = in.get_uint32();
        break;
      default:
        in.skip();
    }
  }
  (*versions)[of] = number;
}

void ReadUnseen(pbf_reader in, std::map<std::string, uint32_t>* unseen) {
  std::string library;
  uint32_t reason = 0;
  while (in.next()) {
    switch (in.tag()) {
      case schema::unseen_field::library:
        library = in.get_string();
        break;
      case schema::unseen_field::reason:
        reason = in.get_uint32();
        break;
      default:
        in.skip();
    }
  }
  (*unseen)[library] = reason;
}

void ReadAllocator(pbf_reader in, std::vector<TracedAllocator>* allocators) {
  TracedAllocator allocator;
  while (in.next()) {
    switch (in.tag()) {
      case schema::allocator_field::framework:
        allocator.framework = in.get_string();
        break;
      case schema::allocator_field::name:
        allocator.name = in.get_string();
        break;
      case schema::allocator_field::device:
        allocator.device = in.get_uint32();
        break;
      case schema::allocator_field::by_handle:
        allocator.by_handle = in.get_bool();
        break;
      default:
        in.skip();
    }
  }
  for (const TracedAllocator& known : *allocators) {
    if (known.framework == allocator.framework && known.name == allocator.name && known.device == allocator.device) {
      return;
    }
  }
  allocators->push_back(std::move(allocator));
}

void ReadHostReading(pbf_reader in, std::vector<HostReading>* readings) {
  HostReading reading;
  while (in.next()) {
    switch (in.tag()) {
      case schema::hostReading_field::time:
        reading.time = in.get_uint64();
        break;
      case schema::hostReading_field::resident:
        reading.resident = in.get_uint64();
        break;
      case schema::hostReading_field::shared:
        reading.shared = in.get_uint64();
        break;
      default:
        in.skip();
    }
  }
  readings->push_back(reading);
}

// libtorch_cuda.so, in some versions in parts: libtorch_cuda_cpp.so.
bool IsTorchCuda(std::string_view path) {
  constexpr std::string_view kName = "libtorch_cuda";
  return path.substr(path.rfind('/') + 1).substr(0, kName.size()) == kName;
}

}  // namespace

void ReadProcess(std::string_view encoded, TracedProcess* process) {
  pbf_reader in(encoded.data(), encoded.size());
  namespace f = schema::process_field;
  process->command.clear();
  process->environment.clear();
  process->rank = 0;  // proto3 leaves out a zero
  while (in.next()) {
    switch (in.tag()) {
      case f::pid:
        process->pid = in.get_uint32();
        break;
      case f::parent_pid:
        process->parent_pid = in.get_uint32();
        break;
      case f::command:
        process->command.push_back(in.get_string());
        break;
      case f::executable:
        process->executable = in.get_string();
        break;
      case f::host:
        process->host = in.get_string();
        break;
      case f::working_directory:
        process->working_directory = in.get_string();
        break;
      case f::environment: {
        pbf_reader variable = in.get_message();
        std::pair<std::string, std::string> pair;
        while (variable.next()) {
          switch (variable.tag()) {
            case schema::variable_field::name:
              pair.first = variable.get_string();
              break;
            case schema::variable_field::value:
              pair.second = variable.get_string();
              break;
            default:
              variable.skip();
          }
        }
        process->environment.push_back(std::move(pair));
        break;
      }
      case f::rank:
        process->rank = in.get_sint32();
        break;
      case f::tracer_version:
        process->tracer_version = in.get_string();
        break;
      case f::driver_version:
        process->driver_version = in.get_string();
        break;
      case f::run_id:
        process->run_id = in.get_string();
        break;
      case f::joined_after_ms:
        process->joined_after_s = static_cast<double>(in.get_uint64()) / 1000;
        break;
      default:
        in.skip();
    }
  }
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
    pbf_reader in(encoded.data(), encoded.size());
    while (in.next()) {
      switch (in.tag()) {
        case f::process:
          ReadProcess(in.get_string(), &process);
          break;
        case f::threads:
          ReadThread(in.get_message(), &threads);
          break;
        case f::modules:
          ReadModule(in.get_message(), &modules);
          break;
        case f::modules_gone:
          ReadModuleGone(in.get_message(), &modules);
          break;
        case f::devices:
          ReadDevice(in.get_message(), &devices);
          break;
        case f::stacks:
          ReadStack(in.get_message(), &frames, &frames_left_, &stacks);
          break;
        case f::versions:
          ReadVersion(in.get_message(), &process.versions);
          break;
        case f::unseen:
          ReadUnseen(in.get_message(), &process.unseen);
          break;
        case f::codes:
          ReadCode(in.get_message(), &codes);
          break;
        case f::python_stacks:
          ReadPythonStack(in.get_message(), &stacks);
          break;
        case f::joined_stacks:
          ReadJoinedStack(in.get_message(), &stacks);
          break;
        case f::allocators:
          ReadAllocator(in.get_message(), &allocators);
          break;
        case f::host_readings:
          ReadHostReading(in.get_message(), &host_readings);
          break;
        case f::names:
          ReadName(in.get_message(), &names, &domains);
          break;
        default:
          in.skip();
      }
    }
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
