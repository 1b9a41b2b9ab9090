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
    const int op = takes_max ? SLW_MAX : SLW_SUM;
    std::vector<double> deposits{entry.deposits};
    for (Group* ranks : {group, runtime.comm->core("pp")}) {  // the log is written on the first stage
      all_reduce(*ranks, entry.values, op);
      all_reduce(*ranks, deposits);
    }
    entry.deposits = deposits.front();
    if (entry.deposits > 0) result.metrics[entry.declaration.name] = finish_metric(entry);
  }
}

// The last stage's header for all stages.
void share_header(Group& pipeline, size_t num_losses, size_t num_microbatches, StepHeader& header) {
  header.totals.resize(num_losses);
  header.counts.resize(num_microbatches, std::vector<double>(num_losses));
  std::vector<double> values = header.totals;
  values.push_back(header.num_microbatches);
  for (const auto& counts : header.counts) values.insert(values.end(), counts.begin(), counts.end());
  broadcast(pipeline, values, pipeline.size() - 1);
  auto from = values.begin();
  for (double& total : header.totals) total = *from++;
  header.num_microbatches = *from++;
  for (auto& counts : header.counts) {
    for (double& count : counts) count = *from++;
  }
}

}  // namespace

StepHeader make_header(Runtime& runtime, const Training& training, const std::vector<Microbatch>& microbatches) {
  const std::vector<LossDeclaration>& losses = training.description.losses;
  StepHeader header;
  if (training.has_losses()) {
    header = count_losses(losses, microbatches);
    std::vector<double> values = header.totals;
    values.push_back(header.num_microbatches);
    all_reduce(*runtime.comm->core("dp_cp"), values);
    header.num_microbatches = values.back();
    values.pop_back();
    header.totals = std::move(values);
  }
  Group& pipeline = *runtime.comm->core("pp");
  if (pipeline.size() > 1) share_header(pipeline, losses.size(), microbatches.size(), header);
  return header;
}

void reduce_losses(Runtime& runtime, Training& training, const LossInputs& inputs, StepResult& result) {
  const std::vector<LossDeclaration>& losses = training.description.losses;
  std::vector<double> values = local_losses(losses, inputs);
  if (training.has_losses()) all_reduce(*runtime.comm->core("dp_cp"), values);
  Group& pipeline = *runtime.comm->core("pp");
  if (pipeline.size() > 1) broadcast(pipeline, values, pipeline.size() - 1);
  for (size_t i = 0; i < losses.size(); ++i) {
    result.losses[losses[i].name] = values[i];
    if (!losses[i].injected) result.loss += losses[i].weight * values[i];
  }
  reduce_metrics(runtime, result);
}

}  // namespace slipway
