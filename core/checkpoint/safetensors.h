// One safetensors file: an 8-byte little-endian header length, a JSON header, then the tensors back to back.
// The reader takes files from anyone: whatever is wrong with one is a CheckpointError that names the file, the tensor
// and the reason. Readers keep no file open, so they are values; const calls may come from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/checkpoint/dtype.h"
#include "core/checkpoint/file_io.h"
#include "core/checkpoint/on_bytes.h"

namespace slipway {

// A tensor of a file; its bytes are [begin, begin + bytes) of the file, row-major.
struct SafetensorsEntry {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  // in file order
  std::map<std::string, std::string> metadata;
};

// Parses and checks a header's JSON. `data_begin` is where the tensors start and `file_bytes` where the file ends;
// `file` only names it in errors.
SafetensorsHeader parse_safetensors_header(std::string_view json, std::uint64_t data_begin, std::uint64_t file_bytes,
                                           const std::string& file);

class SafetensorsReader {
 public:
  // Reads and checks the header.
  explicit SafetensorsReader(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  const std::vector<SafetensorsEntry>& entries() const { return header_.entries; }
  const std::map<std::string, std::string>& metadata() const { return header_.metadata; }

  // nullptr when the file has no such tensor.
  const SafetensorsEntry* find(std::string_view name) const;

  // As find; a missing name is a CheckpointError that lists what the file has.
  const SafetensorsEntry& at(std::string_view name) const;

  // All bytes of one tensor.
  std::vector<std::byte> load(std::string_view name) const;

  // All elements of one tensor as T, whose size must be the dtype's.
  template <class T>
  std::vector<T> load_as(std::string_view name) const;

 private:
  void require_element_size(const SafetensorsEntry& entry, std::size_t size) const;

  std::filesystem::path path_;
  SafetensorsHeader header_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
};

// A tensor to write; `bytes` is read during the call only and holds shape x dtype bytes.
struct SafetensorsTensor {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;
};

// Writes a file and syncs it to disk before it returns. Tensors are laid out by falling element size, so that each is
// aligned to its own, then in the given order. The file is written in place: for an atomic replacement write to
// another name and rename. `on_bytes` hears of each tensor that was written.
WrittenFile write_safetensors(const std::filesystem::path& path, std::span<const SafetensorsTensor> tensors,
                              const std::map<std::string, std::string>& metadata = {}, const OnBytes& on_bytes = {});

template <class T>
std::vector<T> SafetensorsReader::load_as(std::string_view name) const {
  static_assert(std::is_trivially_copyable_v<T>);
  require_element_size(at(name), sizeof(T));
  const std::vector<std::byte> bytes = load(name);
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace slipway
