// Dataset "golden_tokens", for tests: the samples of a case of the golden folder train/, by its value rule. Sample i is
// row i % batch of microbatch (i / batch) % micro_batches of step i / (batch x micro_batches).
#include <slipway/sdk.hpp>

#include "tests/support/golden_values.h"

namespace {

constexpr slw::Options kOptions{
    slw::int_option("case_seed", "1234", "Seed of the case."),
    slw::int_option("case_vocab", "64", "Number of token ids."),
    slw::int_option("batch", "2", "Samples in a microbatch.").min("1"),
    slw::int_option("micro_batches", "2", "Microbatches in a step.").min("1"),
};

class GoldenTokens {
 public:
  static constexpr uint32_t kFlags = SLW_DS_ORDERED;

  GoldenTokens(slw::Host, const slw::Config& config, const slw_dataset_args& args)
      : seq_length_(args.seq_length),
        seed_(static_cast<uint64_t>(config.integer("case_seed"))),
        vocab_(config.integer("case_vocab")),
        batch_(config.integer("batch")),
        micro_batches_(config.integer("micro_batches")) {}

  slw_dataset_info info() const {
    slw_dataset_info info = slw::make<slw_dataset_info>();
    info.size = size_;
    info.vocab_size = vocab_;
    info.eod_id = -1;
    return info;
  }
  void fields(slw::Fields& fields) const { slw::add_language_fields(fields, seq_length_); }
  void build(const slw_build_args& args) { size_ = args.num_samples; }

  void get(const slw_get_args& args) const {
    slw::check_indices(args, size_, "golden_tokens");
    const slw::LanguageOuts outs(args, seq_length_);
    for (int64_t i = 0; i < args.n; ++i) {
      outs.put(i, numbers("tokens", vocab_, seq_length_ + 1, args.indices[i]));
      float* mask = slw::data<float>(*args.outs[kLossMask]) + i * seq_length_;
      for (const int64_t drawn : numbers("loss_mask", 8, seq_length_, args.indices[i]))
        *mask++ = drawn != 0 ? 1.0f : 0.0f;
    }
  }

 private:
  static constexpr size_t kLossMask = 2;  // in the order of slw::add_language_fields

  // The row of sample `index` in the stream `name` of its microbatch.
  std::vector<int64_t> numbers(const std::string& name, int64_t modulus, int64_t length, int64_t index) const {
    const int64_t step = index / (batch_ * micro_batches_), microbatch = index / batch_ % micro_batches_;
    const std::string stream = name + ".step" + std::to_string(step) + ".mb" + std::to_string(microbatch);
    const auto all =
        slipway::golden::ints({stream, seed_}, static_cast<uint64_t>(modulus), static_cast<size_t>(batch_ * length));
    const auto row = all.begin() + index % batch_ * length;
    return {row, row + length};
  }

  int64_t seq_length_;
  uint64_t seed_;
  int64_t vocab_, batch_, micro_batches_;
  int64_t size_ = -1;
};

constexpr slw_component kComponent =
    slw::dataset<GoldenTokens>({"golden_tokens", "Samples of a golden case."}, kOptions);
constexpr slw::About kAbout{"org.slipway.test.golden_tokens", "0.1.0", "Slipway"};

}  // namespace

SLW_PLUGIN(kAbout, &kComponent);
