#include "core/parallel/stages.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/strings.h"
#include "core/parallel/stage_layout.h"

namespace slipway {
namespace {

constexpr int64_t kMostLayers = 1 << 20;

std::string text(int64_t number) { return std::to_string(number); }

// "nearest: 6 or 9"
std::string nearest_multiples(int64_t value, int64_t by) {
  const int64_t below = value / by * by;
  return "; nearest: " + (below > 0 ? text(below) + " or " : "") + text(below + by);
}

// `slots` shared evenly by `stages`.
int64_t even_share(int64_t slots, int64_t stages, const std::string& what) {
  if (stages > 0 && slots % stages == 0 && slots > 0) return slots / stages;
  throw ConfigError(what + " = " + text(slots) + " cannot be shared evenly by " + text(stages) + " pipeline stages" +
                    (stages > 0 ? nearest_multiples(slots, stages) : "") +
                    "; change num_layers or pipeline_model_parallel_size, or give pipeline_model_parallel_layout");
}

// What counts as a layer and is none.
int64_t counted(const PipelineConfig& config) {
  return (config.account_for_embedding_in_pipeline_split ? 1 : 0) + (config.account_for_loss_in_pipeline_split ? 1 : 0);
}

std::string counted_name(const PipelineConfig& config) {
  return std::string("num_layers") + (config.account_for_embedding_in_pipeline_split ? " + embedding" : "") +
         (config.account_for_loss_in_pipeline_split ? " + loss" : "");
}

// A rank's `layers` shared by its chunks.
int64_t chunk_share(int64_t layers, int chunks, const char* option) {
  if (layers % chunks == 0) return layers / chunks;
  throw ConfigError("parallel." + std::string(option) + " is " + text(layers) + ", which " + text(chunks) +
                    " chunks per rank do not share evenly" + nearest_multiples(layers, chunks));
}

// Layers of each virtual stage when only the ends of the pipeline differ.
std::vector<int64_t> uneven_sizes(const PipelineConfig& config, int pp, int chunks, int64_t num_layers) {
  const auto& first = config.num_layers_in_first_pipeline_stage;
  const auto& last = config.num_layers_in_last_pipeline_stage;
  if (first.value_or(0) > num_layers || last.value_or(0) > num_layers - first.value_or(0)) {
    throw ConfigError("num_layers_in_first_pipeline_stage " + text(first.value_or(0)) +
                      " and num_layers_in_last_pipeline_stage " + text(last.value_or(0)) + " are more than the " +
                      text(num_layers) + " layers of the model");
  }
  const int64_t rest = num_layers - first.value_or(0) - last.value_or(0);
  const int64_t middle = pp - (first ? 1 : 0) - (last ? 1 : 0);
  if (middle < 0 || (middle == 0) != (rest == 0)) {
    throw ConfigError("num_layers_in_first_pipeline_stage and num_layers_in_last_pipeline_stage leave " + text(rest) +
                      " of " + text(num_layers) + " layers to the other " + text(std::max<int64_t>(middle, 0)) +
                      " of " + text(pp) + " pipeline ranks");
  }
  const int64_t share = middle == 0 ? 0 : even_share(rest, middle * chunks, "the layers between first and last stage");
  std::vector<int64_t> sizes(static_cast<size_t>(int64_t{pp} * chunks), share);
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const size_t at = static_cast<size_t>(chunk) * static_cast<size_t>(pp);
    if (first) sizes[at] = chunk_share(*first, chunks, "num_layers_in_first_pipeline_stage");
    if (last) sizes[at + static_cast<size_t>(pp) - 1] = chunk_share(*last, chunks, "num_layers_in_last_pipeline_stage");
  }
  return sizes;
}

std::vector<int64_t> even_sizes(const PipelineConfig& config, int pp, int chunks, int64_t num_layers) {
  const int64_t share = even_share(num_layers + counted(config), int64_t{pp} * chunks, counted_name(config));
  std::vector<int64_t> sizes(static_cast<size_t>(int64_t{pp} * chunks), share);
  sizes.front() -= config.account_for_embedding_in_pipeline_split ? 1 : 0;
  sizes.back() -= config.account_for_loss_in_pipeline_split ? 1 : 0;
  return sizes;
}

void check_exclusive(const PipelineConfig& config) {
  const auto& layers_per_chunk = config.num_layers_per_virtual_pipeline_stage;
  if (config.virtual_pipeline_model_parallel_size && layers_per_chunk) {
    throw ConfigError(
        "virtual_pipeline_model_parallel_size and num_layers_per_virtual_pipeline_stage are both given; leave one out");
  }
  const bool counts = config.account_for_embedding_in_pipeline_split || config.account_for_loss_in_pipeline_split;
  const bool uneven = config.num_layers_in_first_pipeline_stage || config.num_layers_in_last_pipeline_stage;
  if (counts && uneven) {
    throw ConfigError(
        "account_for_embedding/loss_in_pipeline_split and num_layers_in_first/last_pipeline_stage exclude each other; "
        "give one of the two kinds");
  }
  if (uneven && layers_per_chunk) {
    throw ConfigError(
        "num_layers_per_virtual_pipeline_stage says that all chunks are alike, num_layers_in_first/last_pipeline_stage "
        "that they are not; give virtual_pipeline_model_parallel_size instead of it");
  }
  if (config.pipeline_model_parallel_layout && (counts || uneven || layers_per_chunk)) {
    throw ConfigError(
        "pipeline_model_parallel_layout says where every layer is; leave account_for_..., num_layers_in_first/last_... "
        "and num_layers_per_virtual_pipeline_stage out");
  }
}

// Chunks per rank when the layers of each are given.
int64_t chunks_of_layers(const PipelineConfig& config, int pp, int64_t num_layers) {
  const int64_t slots = num_layers + counted(config), layers = *config.num_layers_per_virtual_pipeline_stage;
  if (layers <= slots && slots % (layers * pp) == 0) return slots / (layers * pp);
  throw ConfigError(counted_name(config) + " = " + text(slots) + " is no multiple of pipeline_model_parallel_size " +
                    text(pp) + " x num_layers_per_virtual_pipeline_stage " + text(layers) +
                    (layers <= slots ? " = " + text(layers * pp) + nearest_multiples(slots, layers * pp) : ""));
}

}  // namespace

int num_chunks(const PipelineConfig& config, int pp, int64_t num_layers) {
  check_exclusive(config);
  const auto& size = config.virtual_pipeline_model_parallel_size;
  const auto& layout = config.pipeline_model_parallel_layout;
  int64_t chunks = size.value_or(1), most = num_layers + 2;
  if (config.num_layers_per_virtual_pipeline_stage) chunks = chunks_of_layers(config, pp, num_layers);
  if (layout) {
    most = static_cast<int64_t>(parse_stage_layout(*layout).size());
    chunks = size.value_or(std::max<int64_t>(1, most / pp));
  }
  if (chunks > most) {
    throw ConfigError("virtual_pipeline_model_parallel_size is " + text(chunks) + ", more than " +
                      (layout ? "the " + text(most) + " stages of pipeline_model_parallel_layout"
                              : "the " + text(num_layers) + " layers, the embedding and the head"));
  }
  if (chunks > 1 && pp == 1) {
    throw ConfigError("virtual_pipeline_model_parallel_size is " + text(chunks) +
                      " with pipeline_model_parallel_size 1: chunks are interleaved over pipeline ranks; set "
                      "pipeline_model_parallel_size to 2 or more, or the chunks to 1");
  }
  return static_cast<int>(chunks);
}

std::vector<slw_stage> cut_stages(const PipelineConfig& config, int pp, int64_t num_layers) {
  if (num_layers > kMostLayers) {
    throw ConfigError("num_layers is " + text(num_layers) + "; at most " + text(kMostLayers) +
                      " can be cut into stages");
  }
  const int chunks = num_chunks(config, pp, num_layers);
  const bool uneven = config.num_layers_in_first_pipeline_stage || config.num_layers_in_last_pipeline_stage;
  const std::vector<int64_t> sizes =
      config.pipeline_model_parallel_layout
          ? layers_of_layout(*config.pipeline_model_parallel_layout, int64_t{pp} * chunks, num_layers)
      : uneven ? uneven_sizes(config, pp, chunks, num_layers)
               : even_sizes(config, pp, chunks, num_layers);
  std::vector<slw_stage> stages;
  int64_t layer = 0;
  for (size_t v = 0; v < sizes.size(); ++v) {
    const bool is_first = v == 0, is_last = v + 1 == sizes.size();
    const auto begin = static_cast<int32_t>(layer), end = static_cast<int32_t>(layer + sizes[v]);
    stages.push_back({SLW_SIZE_TO(slw_stage, layer_end), static_cast<int32_t>(v) / pp, chunks, is_first ? 1 : 0,
                      is_last ? 1 : 0, begin, end});
    layer = end;
  }
  return stages;
}

std::vector<slw_stage> stages_of_rank(const std::vector<slw_stage>& stages, int pp, int pp_rank) {
  std::vector<slw_stage> mine;
  for (size_t v = static_cast<size_t>(pp_rank); v < stages.size(); v += static_cast<size_t>(pp)) {
    mine.push_back(stages[v]);
  }
  return mine;
}

}  // namespace slipway
