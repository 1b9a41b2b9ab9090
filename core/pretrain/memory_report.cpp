#include "core/pretrain/memory_report.h"

#include <nlohmann/json.hpp>

#include "core/base/file.h"
#include "core/base/strings.h"
#include "core/comm/cpu_memory.h"

namespace slipway {
namespace {

using Json = nlohmann::ordered_json;

bool counts_tensors(const Runtime& runtime) { return runtime.config().train.cpu_memory_pool; }

Json memory_of(const Runtime& runtime, const Training& training, const Iterators& iterators) {
  Json memory;
  memory["rank"] = runtime.context.rank.rank;
  memory["parameters"] = training.store->param_bytes();
  memory["gradients"] = training.store->grad_bytes();
  memory["optimizer"] = training.updates->state_bytes();
  memory["data"] = iterators.train.reader ? iterators.train.reader->bytes() : 0;
  const int64_t tensors = counts_tensors(runtime) ? use_memory_pool().counts().peak : 0;
  memory["activations"] = training.runner->peak_activation_bytes() + tensors;
  return memory;
}

int64_t total_of(const Json& memory) {
  int64_t total = 0;
  for (const auto& [name, bytes] : memory.items()) total += name == "rank" ? 0 : bytes.get<int64_t>();
  return total;
}

std::string largest_text(const Json& ranks) {
  const auto largest = std::max_element(ranks.begin(), ranks.end(),
                                        [](const Json& a, const Json& b) { return total_of(a) < total_of(b); });
  std::string parts;
  for (const auto& [name, bytes] : largest->items()) {
    if (name == "rank") continue;
    parts += (parts.empty() ? "" : ", ") + std::string(name) + " " + human_bytes(bytes.get<uint64_t>());
  }
  return "memory of rank " + largest->at("rank").dump() + (ranks.size() > 1 ? ", the largest: " : ": ") +
         human_bytes(static_cast<uint64_t>(total_of(*largest))) + " = " + parts;
}

}  // namespace

void begin_memory_count(const Runtime& runtime) {
  if (counts_tensors(runtime)) use_memory_pool().reset_peak();
}

void report_memory(Runtime& runtime, const Training& training, const Iterators& iterators) {
  Json ranks = Json::array();
  const std::string mine = memory_of(runtime, training, iterators).dump();
  for (const std::string& text : all_gather_text(runtime.comm->core(), mine)) ranks.push_back(Json::parse(text));
  if (!runtime.is_first_rank()) return;
  runtime.context.log->info(largest_text(ranks));
  if (!runtime.folder.exists()) return;
  write_file_atomic(runtime.folder.memory(), Json{{"bytes", ranks}}.dump(1) + "\n", ExitCode::kUsage);
}

}  // namespace slipway
