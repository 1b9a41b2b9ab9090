// Element types of stored tensors, with the names that the safetensors format gives them. Plain values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace slipway {

enum class DType { kF64, kF32, kF16, kBF16, kI64, kI32, kI16, kI8, kU64, kU32, kU16, kU8, kBool };

// Bytes of one element.
std::int64_t dtype_size(DType dtype);

// The name in a safetensors header, such as "BF16".
std::string_view dtype_name(DType dtype);

// The type of that name; nullopt when there is none.
std::optional<DType> dtype_from_name(std::string_view name);

// All names, for messages: "F64, F32, ...".
std::string_view dtype_names();

}  // namespace slipway
