// SPDX-License-Identifier: Apache-2.0

#include "analyzer/symbols/symbolizer.h"

#include <dwarf.h>

#include <cinttypes>
#include <cstdio>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "absl/strings/str_cat.h"
#include "analyzer/symbols/debug_info.h"
#include "analyzer/symbols/demangle.h"
#include "analyzer/symbols/elf_file.h"
#include "analyzer/symbols/module_locator.h"
#include "analyzer/symbols/source_path.h"

namespace vramtrack {
namespace {

// "libfoo.so+0x12ab".
std::string ModuleOffsetName(std::string_view module, uint64_t offset) {
  char digits[32];
  std::snprintf(digits, sizeof(digits), "+0x%" PRIx64, offset);
  std::string_view name = module.substr(module.rfind('/') + 1);  // npos + 1 is 0
  return std::string(name.empty() ? std::string_view("unknown") : name) + digits;
}

Language DwarfLanguage(int language) {
  switch (language) {
    case DW_LANG_C:
    case DW_LANG_C89:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case 0x2c:  // DW_LANG_C17
    case 0x3e:  // DW_LANG_C23
      return Language::kC;
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
    case 0x2b:  // DW_LANG_C_plus_plus_17
    case 0x3a:  // DW_LANG_C_plus_plus_20
      return Language::kCpp;
    default:
      return Language::kUnknown;
  }
}

// nvcc hands the host part of a .cu file to a C++ compiler, so DWARF alone does not tell CUDA apart.
Language LanguageOf(std::string_view symbol, std::string_view file, int dwarf_language) {
  if (IsCudaSource(file) || IsCudaLaunchStub(symbol)) return Language::kCuda;
  if (dwarf_language != 0) return DwarfLanguage(dwarf_language);
  return IsMangled(symbol) ? Language::kCpp : Language::kUnknown;
}

}  // namespace

const char* ModuleStateName(ModuleState state) {
  static constexpr const char* kNames[] = {"found",   "no_debug_info", "no_symbols", "build_id_mismatch",
                                           "missing", "unreadable",    "not_a_file"};
  return kNames[static_cast<size_t>(state)];
}

// One binary with what was read of it. Members that depend on others are declared after them.
class ModuleStore::Module {
 public:
  Module(const ModuleRef& ref, const SymbolizerOptions& options)
      : shown_path_(WithoutDeletedMark(ref.path)), files_(LocateModule(ref, options.search)) {
    // A separate debug file has the whole symbol table; the binary may have been stripped.
    for (const ElfFile* file : {files_.debug.get(), files_.binary.get()}) {
      if (file == nullptr) continue;
      if (file->has_debug_info() && debug_info_ == nullptr) {
        debug_info_ = DebugInfo::Open(file->elf());
        status_.unreadable_debug_info |= debug_info_ == nullptr;
      }
      auto table = std::make_unique<SymbolTable>(file->elf());
      if (!table->empty()) symbol_tables_.push_back(std::move(table));
    }
    SetStatus(ref);
  }

  const ModuleStatus& status() {
    if (debug_info_ != nullptr) status_.missing_dwo_files = debug_info_->missing_dwo_files();
    return status_;
  }

  const std::vector<Frame>& FramesAt(uint64_t address, bool is_return_address) {
    auto [it, is_new] = frames_[is_return_address].try_emplace(address);
    // The call is before the return address, which may already be another line, or another function.
    if (is_new) it->second = Read(address, is_return_address && address > 0 ? address - 1 : address);
    return it->second;
  }

 private:
  void SetStatus(const ModuleRef& ref) {
    status_.path = ref.path;
    status_.build_id = NormalizedBuildId(ref.build_id);
    const bool in_use = files_.binary != nullptr || files_.debug != nullptr;
    if (!in_use) {
      status_.refused_path = files_.refused_path;
      if (!IsFilePath(shown_path_)) {
        status_.state = ModuleState::kNotAFile;
      } else if (!files_.refused_path.empty()) {
        status_.state = ModuleState::kBuildIdMismatch;
      } else {
        status_.state = files_.unreadable ? ModuleState::kUnreadable : ModuleState::kMissing;
      }
    } else if (debug_info_ != nullptr) {
      status_.state = ModuleState::kFound;
    } else {
      status_.state = symbol_tables_.empty() ? ModuleState::kNoSymbols : ModuleState::kNoDebugInfo;
    }
  }

  std::string_view SymbolAt(uint64_t address) const {
    for (const auto& table : symbol_tables_) {
      std::string_view name = table->NameOf(address);
      if (!name.empty()) return name;
    }
    return {};
  }

  std::vector<Frame> Read(uint64_t offset, uint64_t lookup) {
    const ElfFile* file = files_.binary != nullptr ? files_.binary.get() : files_.debug.get();
    const bool is_code = file != nullptr && file->IsCode(lookup);
    const std::string_view symbol = is_code ? SymbolAt(lookup) : std::string_view();
    SourceLocation location;
    if (is_code && debug_info_ != nullptr) location = debug_info_->Find(lookup);
    if (location.functions.empty()) location.functions.emplace_back();

    std::vector<Frame> frames;
    frames.reserve(location.functions.size());
    for (SourceFunction& function : location.functions) {
      // Where DWARF has no mangled name, the symbol of the code itself has the better one.
      if (!function.inlined && !symbol.empty() && (function.name.empty() || (!function.mangled && IsMangled(symbol)))) {
        function.name = std::string(symbol);
        function.mangled = true;
      }
      Frame& frame = frames.emplace_back();
      frame.function = function.mangled ? Demangle(function.name) : function.name;
      if (frame.function.empty()) frame.function = ModuleOffsetName(shown_path_, offset);
      frame.language = LanguageOf(function.name, function.file, location.language);
      frame.file = std::move(function.file);
      // A line of no file says nothing.
      frame.line = frame.file.empty() ? 0 : function.line;
      frame.module = shown_path_;
      frame.offset = offset;
      frame.inlined = function.inlined;
    }
    return frames;
  }

  const std::string shown_path_;
  LocatedModule files_;
  std::unique_ptr<DebugInfo> debug_info_;
  std::vector<std::unique_ptr<SymbolTable>> symbol_tables_;
  ModuleStatus status_;
  // By whether the address is a return address. References into these maps stay valid.
  std::unordered_map<uint64_t, std::vector<Frame>> frames_[2];
};

ModuleStore::ModuleStore() = default;

ModuleStore::~ModuleStore() = default;

Symbolizer::Symbolizer(SymbolizerOptions options)
    : options_(std::move(options)),
      store_(options_.modules != nullptr ? options_.modules : std::make_shared<ModuleStore>()) {}

Symbolizer::~Symbolizer() = default;

ModuleStore::Module& Symbolizer::Find(const ModuleRef& ref) {
  // Two builds may have one path, and without a build id the same code.
  const ModuleStore::Key key = {ref.path, ref.build_id.empty()
                                              ? absl::StrCat(ref.text_hash, " ", ref.file_bytes, " ", ref.modified_ns)
                                              : NormalizedBuildId(ref.build_id)};
  ModuleStore::Module*& known = modules_[key];
  if (known != nullptr) return *known;
  std::lock_guard<std::mutex> lock(store_->mutex_);
  std::unique_ptr<ModuleStore::Module>& module = store_->modules_[key];
  if (module == nullptr) module = std::make_unique<ModuleStore::Module>(ref, options_);
  known = module.get();
  return *known;
}

const std::vector<Frame>& Symbolizer::Symbolize(const ModuleRef& module, uint64_t address, bool is_return_address) {
  ModuleStore::Module& found = Find(module);
  std::lock_guard<std::mutex> lock(store_->mutex_);
  return found.FramesAt(address, is_return_address);
}

const ModuleStatus& Symbolizer::Status(const ModuleRef& module) { return Find(module).status(); }

std::vector<ModuleStatus> Symbolizer::Statuses() const {
  std::vector<ModuleStatus> statuses;
  statuses.reserve(modules_.size());
  for (const auto& [key, module] : modules_) statuses.push_back(module->status());
  return statuses;
}

}  // namespace vramtrack
