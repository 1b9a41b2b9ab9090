// Dataset "mock": made-up samples for tests and first runs, a pure function of (seed, split, index). Token t + 1 is
// token t plus kStride, modulo the vocabulary, but with probability `noise` it is drawn afresh: a model that learns the
// rule reaches a loss near the noise's entropy, one that does not stays at ln(vocab_size).
#include <slipway/sdk.hpp>

namespace {

constexpr int64_t kStride = 7;

constexpr slw::Options kOptions{
    slw::int_option("vocab_size", "250", "Number of token ids.").min("1").max("4294967295"),
    slw::float_option("noise", "0.1", "Fraction of tokens that are drawn at random instead of following from the last.")
        .min("0")
        .max("1"),
};

class Mock {
 public:
  static constexpr uint32_t kFlags = SLW_DS_THREAD_SAFE | SLW_DS_ORDERED;

  Mock(slw::Host, const slw::Config& config, const slw_dataset_args& args)
      : seq_length_(args.seq_length),
        seed_(args.seed),
        vocab_size_(config.integer("vocab_size")),
        noise_threshold_(static_cast<uint64_t>(config.number("noise") * 4294967296.0)) {
    if (seq_length_ >= 1) return;
    throw slw::Error(SLW_INVALID_ARGUMENT, slw::cat("mock: seq_length is ", seq_length_, ", it has to be at least 1"));
  }

  slw_dataset_info info() const {
    slw_dataset_info info = slw::make<slw_dataset_info>();
    info.size = size_;
    info.vocab_size = vocab_size_;
    info.eod_id = -1;
    info.tokens_per_epoch = size_ < 0 ? 0 : size_ * seq_length_;
    return info;
  }

  void fields(slw::Fields& fields) const { slw::add_language_fields(fields, seq_length_); }

  // There is always one more sample: it has as many as are asked for.
  void build(const slw_build_args& args) {
    static constexpr const char* kSplits[] = {"train", "valid", "test"};
    if (args.split < SLW_SPLIT_TRAIN || args.split > SLW_SPLIT_TEST) {
      throw slw::Error(SLW_INVALID_ARGUMENT, slw::cat("mock: split is ", args.split, ", known are 0, 1 and 2"));
    }
    key_ = slw_philox_key(seed_, "mock", kSplits[args.split]);
    size_ = std::max<int64_t>(args.num_samples, 0);
  }

  void get(const slw_get_args& args) const {
    slw::check_indices(args, size_, "mock");
    const slw::LanguageOuts outs(args, seq_length_);
    std::vector<int64_t> tokens(static_cast<std::size_t>(seq_length_ + 1));
    for (int64_t i = 0; i < args.n; ++i) {
      draw(args.indices[i], tokens);
      outs.put(i, tokens);
    }
  }

  std::string describe_sample(int64_t index) const {
    slw::check_index(index, size_, "mock");
    return slw::cat("{\"source\": \"mock\", \"sample\": ", index, ", \"length\": ", seq_length_ + 1, "}");
  }

  std::string fingerprint() const { return slw::cat("mock-1 vocab ", vocab_size_, " noise ", noise_threshold_); }

 private:
  // Two tokens take one Philox block: per token a lane that decides and a lane that is the value.
  void draw(int64_t index, std::vector<int64_t>& tokens) const {
    const auto sample = static_cast<uint64_t>(index);
    slw_philox_block block{};
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      if (t % 2 == 0) {
        block = slw_philox(key_, static_cast<uint32_t>(t / 2), 0, static_cast<uint32_t>(sample),
                           static_cast<uint32_t>(sample >> 32));
      }
      const uint32_t decides = block.lane[t % 2 * 2], value = block.lane[t % 2 * 2 + 1];
      const bool is_drawn = t == 0 || decides < noise_threshold_;
      tokens[t] = is_drawn ? static_cast<int64_t>((uint64_t{value} * static_cast<uint64_t>(vocab_size_)) >> 32)
                           : (tokens[t - 1] + kStride) % vocab_size_;
    }
  }

  int64_t seq_length_;
  uint64_t seed_;
  int64_t vocab_size_;
  uint64_t noise_threshold_;
  uint64_t key_ = 0;
  int64_t size_ = -1;
};

constexpr slw_component kMock = slw::dataset<Mock>({"mock", "Made-up token sequences with a rule to learn."}, kOptions);
constexpr slw::About kAbout{"org.slipway.mock", "0.1.0", "Slipway"};

}  // namespace

SLW_PLUGIN(kAbout, &kMock);
