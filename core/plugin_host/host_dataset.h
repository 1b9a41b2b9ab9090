// A dataset instance: one source, one split. `get` and `describe_sample` may be called from several threads when
// is_thread_safe(); everything else from the rank's main thread.
#pragma once

#include <slipway/dataset.h>

#include <string>
#include <vector>

#include "core/plugin_host/host.h"
#include "core/plugin_host/registry.h"

namespace slipway {

struct FieldSpec {
  std::string name;
  slw_dtype dtype;
  std::vector<int64_t> shape;  // of one sample
  bool whole_batch = false;
  int32_t seq_dim = -1, seq_dim2 = -1;
};

class HostDataset {
 public:
  HostDataset(const Component& component, const Host& host, const std::string& config_json,
              const slw_dataset_args& args);
  ~HostDataset();
  HostDataset(const HostDataset&) = delete;
  HostDataset& operator=(const HostDataset&) = delete;

  slw_dataset_info info() const;
  std::vector<FieldSpec> fields() const;
  bool is_thread_safe() const { return (table_->flags & SLW_DS_THREAD_SAFE) != 0; }
  bool is_ordered() const { return (table_->flags & SLW_DS_ORDERED) != 0; }

  // No-op for a dataset without caches.
  void prepare(const slw_build_args& args);
  void build(const slw_build_args& args);
  // outs[f]: field f of all n samples, nullptr: not wanted.
  void get(const std::vector<int64_t>& indices, const std::vector<slw_tensor*>& outs) const;
  // JSON text, "" when the dataset cannot tell.
  std::string describe_sample(int64_t index) const;
  std::string fingerprint() const;

 private:
  const slw_dataset_vtable* table_;
  CallSite site_;
  slw_dataset* dataset_ = nullptr;
};

}  // namespace slipway
