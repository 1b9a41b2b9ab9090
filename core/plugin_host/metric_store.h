// Numbers that plugins deposit during a step (slw.metrics/1), until the core takes them. One per rank; thread-safe.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/params/table.h"

namespace slipway {

class MetricStore {
 public:
  // Forgets everything; `declared` is what the model's stages announced.
  void declare(const std::vector<MetricDeclaration>& declared);

  // Adds one deposit. Throws PluginError for an unknown name or a wrong count.
  void deposit(const std::string& name, const double* values, int32_t count);

  struct Entry {
    MetricDeclaration declaration;
    std::vector<double> values;  // combined over the step's deposits; zero when there was none
    double deposits = 0;
  };
  // What was deposited since the last call, in declare order, also metrics without deposits: all ranks of a group then
  // reduce alike.
  std::vector<Entry> take();

 private:
  std::mutex mutex_;
  std::vector<Entry> entries_;
};

// Values of a finished metric from sums over deposits and ranks: MEAN divides by `deposits`, RATIO gives one number.
std::vector<double> finish_metric(const MetricStore::Entry& entry);

}  // namespace slipway
