#include "core/plugin_host/elf_file.h"

#include <elf.h>

#include <cstring>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/file.h"

namespace slipway {
namespace {

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t kMachine = EM_AARCH64;
#else
#error "this machine's ELF number has to be named here"
#endif

constexpr uint64_t kMostSymbols = 1 << 20;

}  // namespace

template <class T>
T ElfFile::read_at(uint64_t offset) const {
  if (offset > bytes_.size() || sizeof(T) > bytes_.size() - offset) refuse("it is cut off");
  T value;
  std::memcpy(&value, bytes_.data() + offset, sizeof(T));
  return value;
}

void ElfFile::refuse(const std::string& why) const {
  throw PluginError(path_ + " is not a plugin: " + why +
                    "; a plugin is a shared object made by slipway_add_plugin (plugin_api/README.md)");
}

ElfFile::ElfFile(const std::string& path) : path_(path) {
  if (std::filesystem::is_directory(path)) refuse("it is a folder");
  bytes_ = read_file(path, ExitCode::kPlugin);
  if (bytes_.size() < sizeof(Elf64_Ehdr) || bytes_.compare(0, SELFMAG, ELFMAG) != 0) refuse("it is no ELF file");
  const auto header = read_at<Elf64_Ehdr>(0);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) refuse("it is not 64-bit");
  if (header.e_type != ET_DYN) refuse("it is no shared object");
  if (header.e_machine != kMachine) refuse("it was built for another processor");
  read_symbols();
}

void ElfFile::read_symbols() {
  const auto header = read_at<Elf64_Ehdr>(0);
  if (header.e_shentsize != sizeof(Elf64_Shdr)) refuse("it has no section table");
  const auto section = [&](uint64_t i) { return read_at<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr)); };
  for (uint64_t s = 0; s < header.e_shnum; ++s) {
    const Elf64_Shdr table = section(s);
    if (table.sh_type != SHT_DYNSYM) continue;
    if (table.sh_link >= header.e_shnum || table.sh_size / sizeof(Elf64_Sym) > kMostSymbols) refuse("it is damaged");
    const Elf64_Shdr strings = section(table.sh_link);
    for (uint64_t i = 0; i < table.sh_size / sizeof(Elf64_Sym); ++i) {
      const auto symbol = read_at<Elf64_Sym>(table.sh_offset + i * sizeof(Elf64_Sym));
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_name == 0) continue;
      const uint64_t name = strings.sh_offset + symbol.st_name;
      const size_t end = name < bytes_.size() ? bytes_.find('\0', name) : std::string::npos;
      if (end == std::string::npos) refuse("it is damaged");
      exports_.push_back(bytes_.substr(name, end - name));
      symbols_.push_back({symbol.st_value, symbol.st_size});
    }
  }
}

std::optional<std::string> ElfFile::data_of(const std::string& symbol) const {
  const auto header = read_at<Elf64_Ehdr>(0);
  for (size_t i = 0; i < exports_.size(); ++i) {
    if (exports_[i] != symbol) continue;
    const auto [address, size] = symbols_[i];
    for (uint64_t p = 0; p < header.e_phnum; ++p) {
      const auto segment = read_at<Elf64_Phdr>(header.e_phoff + p * sizeof(Elf64_Phdr));
      if (segment.p_type != PT_LOAD || address < segment.p_vaddr) continue;
      const uint64_t inside = address - segment.p_vaddr;
      if (inside >= segment.p_filesz || size > segment.p_filesz - inside) continue;
      const uint64_t offset = segment.p_offset + inside;
      if (offset > bytes_.size() || size > bytes_.size() - offset) refuse("it is cut off");
      return bytes_.substr(offset, size);
    }
    refuse("its symbol " + symbol + " lies outside the file");
  }
  return std::nullopt;
}

}  // namespace slipway
