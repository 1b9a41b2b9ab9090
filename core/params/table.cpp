#include "core/params/table.h"

#include "core/base/error.h"

namespace slipway {

void ParamTable::add(int32_t chunk, const slw_param_decl& decl) {
  auto declaration = std::make_shared<const ParamDeclaration>(decl);
  std::vector<int32_t>& uses = by_chunk_[chunk];
  const ParamUse use{chunk, static_cast<int32_t>(uses.size())};
  for (Param& known : params_) {
    const bool same_name = known.name() == declaration->name();
    const char* tie = declaration->decl().tie;
    const bool same_tie = tie != nullptr && known.decl().tie != nullptr && std::string(tie) == known.decl().tie;
    if (!same_name && !same_tie) continue;
    if (!same_tie) throw PluginError("parameter " + declaration->name() + " is declared twice without a tie");
    if (known.declaration->padded_shape() != declaration->padded_shape()) {
      throw PluginError("parameters tied as '" + std::string(tie) + "' have shapes " +
                        shape_text(known.declaration->padded_shape()) + " and " +
                        shape_text(declaration->padded_shape()));
    }
    known.uses.push_back(use);
    uses.push_back(known.index);
    return;
  }
  Param param;
  param.index = static_cast<int32_t>(params_.size());
  param.uses.push_back(use);
  param.local = local_layout(*declaration, places_);
  param.local_numel = element_count(param.local.shape);
  param.is_cut = param.local_numel != element_count(declaration->padded_shape());
  param.declaration = std::move(declaration);
  uses.push_back(param.index);
  params_.push_back(std::move(param));
}

void ParamTable::mark_shared_copy(const std::string& tie) {
  for (Param& param : params_) {
    if (param.decl().tie != nullptr && tie == param.decl().tie) param.is_shared_copy = true;
  }
}

void ParamTable::add_metric(MetricDeclaration metric) {
  for (const MetricDeclaration& known : metrics_) {
    if (known.name != metric.name) continue;
    if (known.length == metric.length && known.reduce == metric.reduce && known.group == metric.group) return;
    throw PluginError("metric " + metric.name + " is declared twice, differently");
  }
  metrics_.push_back(std::move(metric));
}

const Param& ParamTable::by_use(int32_t chunk, int32_t index) const {
  const auto uses = by_chunk_.find(chunk);
  if (uses == by_chunk_.end() || index < 0 || static_cast<size_t>(index) >= uses->second.size()) {
    throw PluginError("parameter index " + std::to_string(index) + " is out of range; the stage declared " +
                      std::to_string(num_uses(chunk)));
  }
  return params_[static_cast<size_t>(uses->second[static_cast<size_t>(index)])];
}

int32_t ParamTable::num_uses(int32_t chunk) const {
  const auto uses = by_chunk_.find(chunk);
  return uses == by_chunk_.end() ? 0 : static_cast<int32_t>(uses->second.size());
}

int64_t ParamTable::num_logical_elements() const {
  int64_t total = 0;
  for (const Param& param : params_) total += element_count(param.declaration->global_shape());
  return total;
}

}  // namespace slipway
