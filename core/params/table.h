// The parameter table of one rank: every parameter of its chunks in declare order. From it follow initial values,
// placement, checkpoint, weight-decay groups and memory plans. Built in step 2, read-only afterwards.
#pragma once

#include <slipway/model.h>

#include <map>
#include <string>
#include <vector>

#include "core/params/local_layout.h"
#include "core/params/param.h"

namespace slipway {

// A metric that a stage announced; see slw_param_sink.metric.
struct MetricDeclaration {
  std::string name, group;
  int32_t length = 1;
  int32_t reduce = SLW_OK;
};

class ParamTable {
 public:
  // `places`: of this rank, in the groups over which parameters are cut.
  explicit ParamTable(GroupPlaces places = {}) : places_(std::move(places)) {}

  // Adds a declaration of chunk `chunk`; returns nothing: the plugin's index is the number of earlier uses of that
  // chunk. Throws PluginError for a name that stands twice without a tie, or a tie of unequal shapes; ConfigError for a
  // cut that does not divide.
  void add(int32_t chunk, const slw_param_decl& decl);
  void add_metric(MetricDeclaration metric);
  // Says that the tie `tie`, if it is here, has its first copy on an earlier stage.
  void mark_shared_copy(const std::string& tie);

  const std::vector<Param>& params() const { return params_; }
  const std::vector<MetricDeclaration>& metrics() const { return metrics_; }
  // The parameter behind the plugin's index `index` of `chunk`.
  const Param& by_use(int32_t chunk, int32_t index) const;
  int32_t num_uses(int32_t chunk) const;
  int64_t num_logical_elements() const;  // without padding, ties once

 private:
  GroupPlaces places_;
  std::vector<Param> params_;
  std::vector<MetricDeclaration> metrics_;
  std::map<int32_t, std::vector<int32_t>> by_chunk_;  // chunk -> plugin index -> parameter
};

}  // namespace slipway
