#include "core/plugin_host/metric_store.h"

#include <slipway/services.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/strings.h"

namespace slipway {

void MetricStore::declare(const std::vector<MetricDeclaration>& declared) {
  const std::lock_guard lock(mutex_);
  entries_.clear();
  for (const MetricDeclaration& metric : declared) {
    entries_.push_back({metric, std::vector<double>(static_cast<size_t>(metric.length), 0.0), 0});
  }
}

void MetricStore::deposit(const std::string& name, const double* values, int32_t count) {
  const std::lock_guard lock(mutex_);
  const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& known) { return known.declaration.name == name; });
  if (entry == entries_.end()) {
    throw PluginError("metric " + in_quotes(name) + " was not declared; announce it in declare()");
  }
  if (count != entry->declaration.length) {
    throw PluginError("metric " + in_quotes(name) + " got " + std::to_string(count) + " values, declared were " +
                      std::to_string(entry->declaration.length));
  }
  for (size_t i = 0; i < entry->values.size(); ++i) {
    double& total = entry->values[i];
    switch (entry->declaration.reduce) {
      case SLW_METRIC_LAST:
        total = values[i];
        break;
      case SLW_METRIC_MAX:
        total = entry->deposits == 0 ? values[i] : std::max(total, values[i]);
        break;
      default:
        total += values[i];
    }
  }
  entry->deposits += 1;
}

std::vector<MetricStore::Entry> MetricStore::take() {
  const std::lock_guard lock(mutex_);
  std::vector<Entry> taken = entries_;
  for (Entry& entry : entries_) {
    std::fill(entry.values.begin(), entry.values.end(), 0.0);
    entry.deposits = 0;
  }
  return taken;
}

std::vector<double> finish_metric(const MetricStore::Entry& entry) {
  std::vector<double> values = entry.values;
  if (entry.declaration.reduce == SLW_METRIC_RATIO && values.size() == 2) return {values[0] / values[1]};
  if (entry.declaration.reduce == SLW_METRIC_MEAN) {
    for (double& value : values) value /= entry.deposits;
  }
  return values;
}

}  // namespace slipway
