#include <algorithm>
#include <array>
#include <utility>

#include "core/base/error.h"
#include "core/base/strings.h"
#include "core/checkpoint/cut.h"
#include "core/checkpoint/file_io.h"
#include "core/checkpoint/json_text.h"
#include "core/checkpoint/safetensors.h"

namespace slipway {
namespace {

using nlohmann::json;

constexpr std::uint64_t kLengthBytes = 8;
// The limit of the format's reference implementation.
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;
constexpr const char* kMetadataKey = "__metadata__";

std::map<std::string, std::string> parse_metadata(const json& object, const std::string& file) {
  const std::string where = file + ": " + kMetadataKey;
  if (!object.is_object()) throw CheckpointError(where + ": is not a JSON object");
  std::map<std::string, std::string> metadata;
  for (const auto& [key, value] : object.items()) metadata[key] = json_string(value, where + ": " + in_quotes(key));
  return metadata;
}

DType parse_dtype(const json& value, const std::string& where) {
  const std::string name = json_string(value, where + ": dtype");
  const std::optional<DType> dtype = dtype_from_name(name);
  if (!dtype) {
    throw CheckpointError(where + ": dtype " + in_quotes(name) + " is not one of " + std::string(dtype_names()));
  }
  return *dtype;
}

std::uint64_t tensor_bytes(const SafetensorsEntry& entry, const std::string& where) {
  const std::optional<std::int64_t> elements = num_elements(entry.shape);
  if (!elements) throw CheckpointError(where + ": shape " + to_string(entry.shape) + " is too large");
  return static_cast<std::uint64_t>(*elements * dtype_size(entry.dtype));
}

// `begin` and `bytes` of the result are still relative to the start of the data.
SafetensorsEntry parse_entry(const std::string& name, const json& object, const std::string& file) {
  const std::string where = file + ": tensor " + in_quotes(name);
  SafetensorsEntry entry;
  entry.name = name;
  entry.dtype = parse_dtype(json_member(object, "dtype", where), where);
  entry.shape = json_counts(json_member(object, "shape", where), where + ": shape");
  const std::vector<std::int64_t> offsets =
      json_counts(json_member(object, "data_offsets", where), where + ": data_offsets");
  if (object.size() != 3) throw CheckpointError(where + ": has keys other than dtype, shape, data_offsets");
  if (offsets.size() != 2 || offsets[0] > offsets[1]) {
    throw CheckpointError(where + ": data_offsets are not two rising numbers");
  }
  entry.begin = static_cast<std::uint64_t>(offsets[0]);
  entry.bytes = static_cast<std::uint64_t>(offsets[1] - offsets[0]);
  const std::uint64_t expected = tensor_bytes(entry, where);
  if (entry.bytes != expected) {
    throw CheckpointError(where + ": data_offsets span " + std::to_string(entry.bytes) + " bytes, but shape " +
                          to_string(entry.shape) + " of " + std::string(dtype_name(entry.dtype)) + " takes " +
                          std::to_string(expected));
  }
  return entry;
}

// Sorts by position and checks that the tensors fill the data without overlap or gap; makes `begin` absolute.
void place_entries(std::vector<SafetensorsEntry>& entries, std::uint64_t data_begin, std::uint64_t file_bytes,
                   const std::string& file) {
  std::sort(entries.begin(), entries.end(), [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
    return std::pair(a.begin, a.bytes) < std::pair(b.begin, b.bytes);
  });
  const std::uint64_t data_bytes = file_bytes - data_begin;
  std::uint64_t end = 0;
  for (SafetensorsEntry& entry : entries) {
    const std::string where = file + ": tensor " + in_quotes(entry.name);
    if (entry.begin > data_bytes || entry.bytes > data_bytes - entry.begin) {
      throw CheckpointError(where + ": ends at byte " + std::to_string(entry.begin + entry.bytes) +
                            " of the data, which has " + std::to_string(data_bytes) + " (is the file truncated?)");
    }
    if (entry.begin != end) {
      throw CheckpointError(where + ": begins at byte " + std::to_string(entry.begin) +
                            " of the data, but the tensor " + "before it ends at " + std::to_string(end) +
                            (entry.begin < end ? " (they overlap)" : " (there is a gap)"));
    }
    end += entry.bytes;
    entry.begin += data_begin;
  }
  if (end != data_bytes) {
    throw CheckpointError(file + ": has " + std::to_string(data_bytes - end) + " bytes after the last tensor");
  }
}

std::uint64_t little_endian(const std::array<std::byte, kLengthBytes>& bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  return value;
}

SafetensorsHeader read_header(const std::filesystem::path& path) {
  const std::string file = path.string();
  const InputFile input(path);
  if (input.bytes() < kLengthBytes) {
    throw CheckpointError(file + ": has " + std::to_string(input.bytes()) + " bytes, too few for a safetensors file");
  }
  std::array<std::byte, kLengthBytes> length_bytes{};
  input.read(0, length_bytes);
  const std::uint64_t length = little_endian(length_bytes);
  if (length > kMaxHeaderBytes || length > input.bytes() - kLengthBytes) {
    throw CheckpointError(file + ": states a header of " + std::to_string(length) + " bytes, but the file has " +
                          std::to_string(input.bytes()) + " and at most " + std::to_string(kMaxHeaderBytes) +
                          " are allowed: it is truncated, damaged or no safetensors file");
  }
  std::string text(length, '\0');
  input.read(kLengthBytes, std::as_writable_bytes(std::span(text)));
  return parse_safetensors_header(text, kLengthBytes + length, input.bytes(), file);
}

}  // namespace

SafetensorsHeader parse_safetensors_header(std::string_view json_text, std::uint64_t data_begin,
                                           std::uint64_t file_bytes, const std::string& file) {
  SLW_CHECK(data_begin <= file_bytes);
  const json document = parse_json_object(json_text, file + ": header");
  SafetensorsHeader header;
  for (const auto& [name, value] : document.items()) {
    if (name == kMetadataKey) {
      header.metadata = parse_metadata(value, file);
    } else {
      header.entries.push_back(parse_entry(name, value, file));
    }
  }
  place_entries(header.entries, data_begin, file_bytes, file);
  return header;
}

SafetensorsReader::SafetensorsReader(std::filesystem::path path) : path_(std::move(path)), header_(read_header(path_)) {
  for (std::size_t i = 0; i < header_.entries.size(); ++i) by_name_[header_.entries[i].name] = i;
}

const SafetensorsEntry* SafetensorsReader::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &header_.entries[found->second];
}

const SafetensorsEntry& SafetensorsReader::at(std::string_view name) const {
  if (const SafetensorsEntry* entry = find(name)) return *entry;
  std::vector<std::string> names;
  for (const SafetensorsEntry& entry : header_.entries) names.push_back(entry.name);
  throw CheckpointError(path_.string() + ": has no tensor " + in_quotes(name) + suggestion(name, names));
}

std::vector<std::byte> SafetensorsReader::load(std::string_view name) const {
  const SafetensorsEntry& entry = at(name);
  const InputFile input(path_);
  // Checked again, so that a file cut short since then does not make us reserve what it no longer holds.
  if (input.bytes() < entry.begin + entry.bytes) throw CheckpointError(path_.string() + ": has become shorter");
  std::vector<std::byte> bytes(entry.bytes);
  input.read(entry.begin, bytes);
  return bytes;
}

void SafetensorsReader::require_element_size(const SafetensorsEntry& entry, std::size_t size) const {
  if (dtype_size(entry.dtype) == static_cast<std::int64_t>(size)) return;
  throw CheckpointError(path_.string() + ": tensor " + in_quotes(entry.name) + ": dtype " +
                        std::string(dtype_name(entry.dtype)) + " does not have elements of " + std::to_string(size) +
                        " bytes");
}

}  // namespace slipway
