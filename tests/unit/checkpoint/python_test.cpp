// Files that we write open with Python's safetensors and hold the same numbers there.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/safetensors.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

constexpr const char* kScript = R"(
import sys
import numpy
from safetensors import safe_open
from safetensors.numpy import load_file

types = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
         "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1"}
tensors = load_file(sys.argv[1])
assert set(tensors) == set(types) | {"scalar", "empty"}, tensors.keys()
for name, code in types.items():
    want = numpy.array([[0, 1, 1], [0, 0, 1]], dtype=code)
    assert tensors[name].dtype == want.dtype, (name, tensors[name].dtype)
    assert (tensors[name] == want).all(), (name, tensors[name])
assert tensors["scalar"].shape == () and tensors["scalar"] == 1
assert tensors["empty"].shape == (3, 0)
with safe_open(sys.argv[1], framework="numpy") as file:
    assert file.metadata() == {"key": "value"}, file.metadata()
with safe_open(sys.argv[2], framework="numpy") as file:
    assert sorted(file.keys()) == ["b", "w[0:1,0:3]"], file.keys()
    assert (file.get_tensor("w[0:1,0:3]") == [[0, 1, 1]]).all()
)";

template <class T>
void add(std::vector<SafetensorsTensor>& tensors, DType dtype) {
  static const T values[6] = {T{0}, T{1}, T{1}, T{0}, T{0}, T{1}};
  tensors.push_back({std::string(dtype_name(dtype)), dtype, {2, 3}, std::as_bytes(std::span(values))});
}

std::vector<SafetensorsTensor> one_of_each_type() {
  static const std::uint16_t half[6] = {0, 0x3C00, 0x3C00, 0, 0, 0x3C00};
  std::vector<SafetensorsTensor> tensors;
  add<std::uint8_t>(tensors, DType::kBool);
  add<std::int8_t>(tensors, DType::kI8);
  add<std::uint8_t>(tensors, DType::kU8);
  tensors.push_back({"F16", DType::kF16, {2, 3}, std::as_bytes(std::span(half))});
  add<std::int16_t>(tensors, DType::kI16);
  add<std::uint16_t>(tensors, DType::kU16);
  add<std::int32_t>(tensors, DType::kI32);
  add<std::uint32_t>(tensors, DType::kU32);
  add<float>(tensors, DType::kF32);
  add<std::int64_t>(tensors, DType::kI64);
  add<std::uint64_t>(tensors, DType::kU64);
  add<double>(tensors, DType::kF64);
  tensors.push_back({"scalar", DType::kF32, {}, tensors[8].bytes.subspan(4, 4)});
  tensors.push_back({"empty", DType::kF32, {3, 0}, {}});
  return tensors;
}

TEST(Python, OpensOurFiles) {
  const TempFolder folder;
  const std::vector<SafetensorsTensor> tensors = one_of_each_type();
  write_safetensors(folder.path() / "types.safetensors", tensors, {{"key", "value"}});
  const std::vector<Piece> pieces = {{"w", DType::kF32, {2, 3}, slice_cut({0, 0}, {1, 3}), tensors[8].bytes.first(12)},
                                     {"b", DType::kI64, {6}, whole_cut({6}), tensors[9].bytes}};
  const ShardDescription shard = write_shard(folder.path(), 0, pieces);
  std::ofstream(folder.path() / "check.py") << kScript;
  const std::string command = std::string(SLIPWAY_TEST_PYTHON) + " " + (folder.path() / "check.py").string() + " " +
                              (folder.path() / "types.safetensors").string() + " " +
                              (folder.path() / shard.files.at(0).name).string();
  EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace slipway
