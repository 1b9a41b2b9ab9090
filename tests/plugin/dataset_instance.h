// One instance of a dataset component, for tests: the calls of the v-table in C++. A failed call throws CallFailed.
#pragma once

#include <slipway/dataset.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "tests/plugin/get_call.h"
#include "tests/plugin/toy_host.h"

class CallFailed : public std::runtime_error {
 public:
  CallFailed(slw_status status, const std::string& message) : std::runtime_error(message), status_(status) {}
  slw_status status() const { return status_; }

 private:
  slw_status status_;
};

struct BuildRange {
  int64_t num_samples = 0;
  double begin = 0, end = 1;
  int32_t split = SLW_SPLIT_TRAIN;
};

class DatasetInstance {
 public:
  // config: JSON text; the component's defaults fill what it leaves out.
  DatasetInstance(const slw_component& component, const std::string& config, int64_t seq_length, uint64_t seed = 1234);
  ~DatasetInstance();
  DatasetInstance(const DatasetInstance&) = delete;
  DatasetInstance& operator=(const DatasetInstance&) = delete;

  const slw_dataset_vtable& table() const { return table_; }
  slw_dataset* handle() const { return dataset_; }
  slw_dataset_info info() const;
  const std::vector<FieldSpec>& fields() const { return fields_; }
  void build(const BuildRange& range);
  Samples get(const std::vector<int64_t>& indices) const;
  // REQUIRES: an i64 field.
  std::vector<int64_t> get_i64(const std::string& field, const std::vector<int64_t>& indices) const;
  std::string describe_sample(int64_t index) const;
  std::string fingerprint() const;

 private:
  void read_fields();

  ToyHost host_;
  const slw_dataset_vtable& table_;
  slw_dataset* dataset_ = nullptr;
  std::vector<FieldSpec> fields_;
};
