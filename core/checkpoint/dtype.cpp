#include "core/checkpoint/dtype.h"

#include <array>

#include "core/base/error.h"

namespace slipway {
namespace {

struct Row {
  DType dtype;
  std::string_view name;
  std::int64_t size;
};

constexpr std::array<Row, 13> kRows = {{{DType::kF64, "F64", 8},
                                        {DType::kF32, "F32", 4},
                                        {DType::kF16, "F16", 2},
                                        {DType::kBF16, "BF16", 2},
                                        {DType::kI64, "I64", 8},
                                        {DType::kI32, "I32", 4},
                                        {DType::kI16, "I16", 2},
                                        {DType::kI8, "I8", 1},
                                        {DType::kU64, "U64", 8},
                                        {DType::kU32, "U32", 4},
                                        {DType::kU16, "U16", 2},
                                        {DType::kU8, "U8", 1},
                                        {DType::kBool, "BOOL", 1}}};

const Row& row(DType dtype) {
  for (const Row& candidate : kRows) {
    if (candidate.dtype == dtype) return candidate;
  }
  check_failed("dtype is one of DType", __FILE__, __LINE__);
}

}  // namespace

std::int64_t dtype_size(DType dtype) { return row(dtype).size; }

std::string_view dtype_name(DType dtype) { return row(dtype).name; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const Row& candidate : kRows) {
    if (candidate.name == name) return candidate.dtype;
  }
  return std::nullopt;
}

std::string_view dtype_names() { return "F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8, BOOL"; }

}  // namespace slipway
