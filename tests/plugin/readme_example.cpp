#include <slipway/sdk.hpp>

struct Ramp {
  static constexpr uint32_t kFlags = SLW_DS_THREAD_SAFE | SLW_DS_ORDERED;
  Ramp(slw::Host, const slw::Config& config, const slw_dataset_args& args)
      : vocab_size(config.integer("vocab_size")), seq_length(args.seq_length) {}
  slw_dataset_info info() const {
    slw_dataset_info info = slw::make<slw_dataset_info>();
    info.size = size, info.vocab_size = vocab_size, info.eod_id = -1;
    return info;
  }
  void fields(slw::Fields& fields) const { slw::add_language_fields(fields, seq_length); }
  void build(const slw_build_args& args) { size = args.num_samples; }
  void get(const slw_get_args& args) const {
    slw::check_indices(args, size, "ramp");
    const slw::LanguageOuts outs(args, seq_length);
    std::vector<int64_t> tokens(seq_length + 1);
    for (int64_t i = 0; i < args.n; ++i) {
      for (int64_t t = 0; t <= seq_length; ++t) tokens[t] = (args.indices[i] + t) % vocab_size;
      outs.put(i, tokens);
    }
  }
  int64_t vocab_size, seq_length, size = -1;
};
constexpr slw::Options kOptions{slw::int_option("vocab_size", "100", "Number of token ids.").min("1")};
constexpr slw_component kRamp = slw::dataset<Ramp>({"ramp", "Counts upwards."}, kOptions);
constexpr slw::About kAbout{"org.example.ramp", "1.0.0", "Example"};
SLW_PLUGIN(kAbout, &kRamp);
