// Looks at a shared object without loading it: which symbols it exports, and the bytes of a data symbol. The file is
// untrusted: every offset is checked, and nothing of it runs. A value; one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace slipway {

class ElfFile {
 public:
  // Throws PluginError naming the file and the reason when it is no shared object for this machine.
  explicit ElfFile(const std::string& path);

  // Names of the dynamic symbols defined in the file.
  const std::vector<std::string>& exports() const { return exports_; }
  // The symbol's bytes as they lie in the file (relocations are not applied); nullopt: not exported.
  std::optional<std::string> data_of(const std::string& symbol) const;
  const std::string& bytes() const { return bytes_; }

 private:
  struct Symbol {
    uint64_t address, size;
  };
  template <class T>
  T read_at(uint64_t offset) const;
  [[noreturn]] void refuse(const std::string& why) const;
  void read_symbols();

  std::string path_, bytes_;
  std::vector<std::string> exports_;
  std::vector<Symbol> symbols_;  // beside exports_
};

}  // namespace slipway
