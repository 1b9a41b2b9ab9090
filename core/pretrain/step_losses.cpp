#include "core/pretrain/step_losses.h"

#include <slipway/services.h>

#include <utility>

namespace slipway {
namespace {

// Logged values are the trained ones without their weight: what one loss's gradients are gradients of.
std::vector<double> local_losses(const std::vector<LossDeclaration>& losses, const LossInputs& inputs) {
  std::vector<double> totals(losses.size(), 0.0);
  for (size_t m = 0; m < inputs.sums.size(); ++m) {
    for (size_t i = 0; i < losses.size(); ++i) {
      const double scale = loss_gradient(inputs.header, losses[i], i, m, inputs.normalization) / losses[i].weight;
      totals[i] += inputs.sums[m][i] * scale;
    }
  }
  return totals;
}

void reduce_metrics(Runtime& runtime, StepResult& result) {
  for (MetricStore::Entry& entry : runtime.host->metrics().take()) {
    Group* group = runtime.comm->group(entry.declaration.group);
    if (group == nullptr) {
      throw PluginError("metric " + entry.declaration.name + " names the group '" + entry.declaration.group +
                        "', which there is not");
    }
    const bool takes_max = entry.declaration.reduce == SLW_METRIC_MAX || entry.declaration.reduce == SLW_METRIC_LAST;
    all_reduce(*group, entry.values, takes_max ? SLW_MAX : SLW_SUM);
    std::vector<double> deposits{entry.deposits};
    all_reduce(*group, deposits);
    entry.deposits = deposits.front();
    if (entry.deposits > 0) result.metrics[entry.declaration.name] = finish_metric(entry);
  }
}

}  // namespace

void reduce_header(Group& group, StepHeader& header) {
  std::vector<double> values = header.totals;
  values.push_back(header.num_microbatches);
  all_reduce(group, values);
  header.num_microbatches = values.back();
  values.pop_back();
  header.totals = std::move(values);
}

void reduce_losses(Runtime& runtime, Training& training, const LossInputs& inputs, StepResult& result) {
  const std::vector<LossDeclaration>& losses = training.description.losses;
  std::vector<double> values = local_losses(losses, inputs);
  all_reduce(*runtime.comm->group("dp_cp"), values);
  for (size_t i = 0; i < losses.size(); ++i) {
    result.losses[losses[i].name] = values[i];
    if (!losses[i].injected) result.loss += losses[i].weight * values[i];
  }
  reduce_metrics(runtime, result);
}

}  // namespace slipway
