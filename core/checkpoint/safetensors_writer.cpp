#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/base/strings.h"
#include "core/checkpoint/cut.h"
#include "core/checkpoint/json_text.h"
#include "core/checkpoint/safetensors.h"

namespace slipway {
namespace {

constexpr const char* kMetadataKey = "__metadata__";

void check_tensor(const SafetensorsTensor& tensor, const std::string& file) {
  const std::string where = file + ": tensor " + in_quotes(tensor.name);
  if (tensor.name == kMetadataKey) throw CheckpointError(where + ": this name is reserved");
  const std::optional<std::int64_t> elements = num_elements(tensor.shape);
  if (!elements) throw CheckpointError(where + ": shape " + to_string(tensor.shape) + " is impossible");
  const auto expected = static_cast<std::uint64_t>(*elements * dtype_size(tensor.dtype));
  if (expected != tensor.bytes.size()) {
    throw CheckpointError(where + ": shape " + to_string(tensor.shape) + " of " +
                          std::string(dtype_name(tensor.dtype)) + " takes " + std::to_string(expected) +
                          " bytes, given are " + std::to_string(tensor.bytes.size()));
  }
}

std::vector<const SafetensorsTensor*> in_file_order(std::span<const SafetensorsTensor> tensors) {
  std::vector<const SafetensorsTensor*> order;
  for (const SafetensorsTensor& tensor : tensors) order.push_back(&tensor);
  std::stable_sort(order.begin(), order.end(), [](const SafetensorsTensor* a, const SafetensorsTensor* b) {
    return dtype_size(a->dtype) > dtype_size(b->dtype);
  });
  return order;
}

std::string header_text(const std::vector<const SafetensorsTensor*>& order,
                        const std::map<std::string, std::string>& metadata, const std::string& file) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header[kMetadataKey] = metadata;
  std::uint64_t begin = 0;
  std::map<std::string_view, bool> seen;
  for (const SafetensorsTensor* tensor : order) {
    check_tensor(*tensor, file);
    if (!seen.emplace(tensor->name, true).second) {
      throw CheckpointError(file + ": tensor " + in_quotes(tensor->name) + ": is given twice");
    }
    const std::uint64_t end = begin + tensor->bytes.size();
    header.push_back(
        {tensor->name,
         {{"dtype", dtype_name(tensor->dtype)}, {"shape", tensor->shape}, {"data_offsets", {begin, end}}}});
    begin = end;
  }
  std::string text = json_dump(header, file);
  // Blanks up to a multiple of 8, so that the data is as aligned as the file.
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

std::array<std::byte, 8> little_endian(std::uint64_t value) {
  std::array<std::byte, 8> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(value >> (8 * i));
  return bytes;
}

}  // namespace

WrittenFile write_safetensors(const std::filesystem::path& path, std::span<const SafetensorsTensor> tensors,
                              const std::map<std::string, std::string>& metadata, const OnBytes& on_bytes) {
  const std::vector<const SafetensorsTensor*> order = in_file_order(tensors);
  const std::string header = header_text(order, metadata, path.string());
  OutputFile output(path);
  output.write(little_endian(header.size()));
  output.write(header);
  for (const SafetensorsTensor* tensor : order) {
    output.write(tensor->bytes);
    if (on_bytes) on_bytes(tensor->bytes.size());
  }
  return output.finish();
}

}  // namespace slipway
