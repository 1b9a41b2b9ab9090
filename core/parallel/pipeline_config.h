// How a model is cut into pipeline stages and in which order they run: options of section `parallel`, with the names of
// Megatron-core's TransformerConfig and command line. A value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/config/fields.h"

namespace slipway {

struct PipelineConfig {
  std::optional<int64_t> virtual_pipeline_model_parallel_size;
  std::optional<int64_t> num_layers_per_virtual_pipeline_stage;
  std::optional<int64_t> microbatch_group_size_per_vp_stage;
  std::optional<int64_t> num_layers_in_first_pipeline_stage, num_layers_in_last_pipeline_stage;
  bool account_for_embedding_in_pipeline_split = false;
  bool account_for_loss_in_pipeline_split = false;
  std::optional<std::string> pipeline_model_parallel_layout;
  std::optional<std::string> pipeline_schedule;
  std::optional<std::string> recompute_granularity;

  bool recomputes() const { return recompute_granularity.has_value(); }

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("virtual_pipeline_model_parallel_size", self.virtual_pipeline_model_parallel_size,
          "Model chunks per pipeline rank: the interleaved schedule. null: 1.", {.min = 1});
    visit("num_layers_per_virtual_pipeline_stage", self.num_layers_per_virtual_pipeline_stage,
          "The same said by the layers of a chunk; give one of the two.", {.min = 1});
    visit("microbatch_group_size_per_vp_stage", self.microbatch_group_size_per_vp_stage,
          "Microbatches that a chunk runs before the next chunk's turn; null: pipeline_model_parallel_size.",
          {.min = 1, .aliases = {"microbatch_group_size_per_virtual_pipeline_stage"}});
    visit("num_layers_in_first_pipeline_stage", self.num_layers_in_first_pipeline_stage,
          "Layers of the first rank; the others share the rest evenly.",
          {.min = 0, .aliases = {"decoder_first_pipeline_num_layers"}});
    visit("num_layers_in_last_pipeline_stage", self.num_layers_in_last_pipeline_stage,
          "Layers of the last rank; the others share the rest evenly.",
          {.min = 0, .aliases = {"decoder_last_pipeline_num_layers"}});
    visit("account_for_embedding_in_pipeline_split", self.account_for_embedding_in_pipeline_split,
          "Count the embedding as a layer of the first stage.");
    visit("account_for_loss_in_pipeline_split", self.account_for_loss_in_pipeline_split,
          "Count head and loss as a layer of the last stage.");
    visit("pipeline_model_parallel_layout", self.pipeline_model_parallel_layout,
          "The stages one by one, joined by '|': E the embedding, t a layer, L head and loss; (t|)*3 and t*4 repeat, "
          "commas mean nothing. \"Et*3|(tt|)*2,tL\" has four stages.");
    visit("pipeline_schedule", self.pipeline_schedule,
          "A JSON file with the order of every rank's forwards and backwards (core/parallel/schedule/README.md); null: "
          "1F1B, interleaved with several chunks per rank.",
          {.is_path = true});
    visit("recompute_granularity", self.recompute_granularity,
          "full: keep only each chunk's input and run its forward again before its backward. Changes no number.",
          {.choices = {"full"}});
  }
};

}  // namespace slipway
