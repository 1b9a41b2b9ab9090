#include "tests/golden/gpt/case.h"

#include <map>
#include <numeric>
#include <set>

#include "tests/support/golden_values.h"

namespace slipway::golden {
namespace {

// Short names of the cases and the options that they mean.
const std::map<std::string, std::string> kOptions = {{"layers", "num_layers"},
                                                     {"hidden", "hidden_size"},
                                                     {"heads", "num_attention_heads"},
                                                     {"ffn", "ffn_hidden_size"},
                                                     {"max_pos", "max_position_embeddings"}};
// Sizes of the run, and notes of the program that wrote the case.
const std::set<std::string> kNotOptions = {"seq", "vocab", "batch", "kv", "ffn_glu", "ffn_moe", "experts"};

ModelSetup read_setup(const nlohmann::json& config) {
  ModelSetup setup;
  setup.batch_size = config.at("batch").get<int64_t>();
  setup.seq_length = config.at("seq").get<int64_t>();
  setup.vocab_size = config.at("vocab").get<int64_t>();
  setup.options = {{"hidden_dropout", 0.0}, {"attention_dropout", 0.0}};
  for (const auto& [key, value] : config.items()) {
    const auto option = kOptions.find(key);
    if (option != kOptions.end() && !config.contains(option->second)) setup.options[option->second] = value;
    if (option == kOptions.end() && !kNotOptions.contains(key)) setup.options[key] = value;
  }
  return setup;
}

}  // namespace

GptCase read_gpt_case(const std::filesystem::path& path) {
  GptCase c;
  c.json = read_json(path);
  c.name = c.json.at("case").get<std::string>();
  c.folder = path.parent_path();
  c.seed = c.json.at("seed").get<uint64_t>();
  c.setup = read_setup(c.json.at("config"));
  return c;
}

ModelBatch make_batch(const GptCase& c) {
  const auto rows = static_cast<std::size_t>(c.setup.batch_size), length = static_cast<std::size_t>(c.setup.seq_length);
  const auto full = ints({"tokens", c.seed}, static_cast<uint64_t>(c.setup.vocab_size), rows * (length + 1));
  const auto mask = ints({"loss_mask", c.seed}, 8, rows * length);
  ModelBatch batch;
  batch.batch_size = c.setup.batch_size;
  batch.seq_length = c.setup.seq_length;
  for (std::size_t r = 0; r < rows; ++r) {
    const auto row = full.begin() + static_cast<std::ptrdiff_t>(r * (length + 1));
    batch.tokens.insert(batch.tokens.end(), row, row + static_cast<std::ptrdiff_t>(length));
    batch.labels.insert(batch.labels.end(), row + 1, row + 1 + static_cast<std::ptrdiff_t>(length));
    batch.sample_ids.push_back(static_cast<int64_t>(r));
  }
  for (const int64_t m : mask) batch.loss_mask.push_back(m != 0 ? 1.0f : 0.0f);
  return batch;
}

std::unique_ptr<ModelHarness> make_model(const GptCase& c, const ModelSetup& setup) {
  auto model = std::make_unique<ModelHarness>(setup);
  for (const std::string& name : model->parameter_names()) {
    const int64_t count = element_count(model->declaration(name).declaration->global_shape());
    model->set(name, weights({name, c.seed}, static_cast<std::size_t>(count)));
  }
  return model;
}

double sum_of_mask(const ModelBatch& batch) {
  return std::accumulate(batch.loss_mask.begin(), batch.loss_mask.end(), 0.0);
}

}  // namespace slipway::golden
