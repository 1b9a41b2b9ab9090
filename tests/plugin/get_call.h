// The arguments of one dataset `get` and the buffers they point to, with canaries behind each.
#pragma once

#include <slipway/dataset.h>

#include <map>
#include <memory>
#include <slipway/sdk/structs.hpp>
#include <slipway/sdk/tensor.hpp>
#include <string>
#include <vector>

struct FieldSpec {
  std::string name;
  slw_dtype dtype;
  std::vector<int64_t> shape;  // of one sample
};

// The bytes of each field, by name.
using Samples = std::map<std::string, std::vector<unsigned char>>;

class GetCall {
 public:
  GetCall(const std::vector<FieldSpec>& fields, std::vector<int64_t> indices);
  GetCall(const GetCall&) = delete;
  GetCall& operator=(const GetCall&) = delete;

  // Says that this field is not wanted.
  void skip(std::size_t field) { outs_[field] = nullptr; }
  slw_get_args& args() { return args_; }
  // What was written so far; a skipped field keeps its fill.
  Samples samples() const;
  bool canaries_alive() const;

 private:
  struct Buffer {
    std::string name;
    std::vector<unsigned char> memory;  // the field's bytes, then the canary
    std::unique_ptr<slw::View> view;
  };
  static constexpr std::size_t kCanaryBytes = 64;
  static constexpr unsigned char kFill = 0xA5;

  std::vector<int64_t> indices_;
  std::vector<Buffer> buffers_;
  std::vector<slw_tensor*> outs_;
  slw_get_args args_ = slw::make<slw_get_args>();
};
