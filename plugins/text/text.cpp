// Dataset "text": trains straight from UTF-8 files. A token is a byte; a sample is a window of seq_length + 1 tokens at
// a stride of seq_length over the split's part of the files.
#include <cmath>
#include <memory>
#include <slipway/sdk.hpp>

#include "plugins/text/epoch_order.h"
#include "plugins/text/token_stream.h"

namespace {

constexpr slw::Options kOptions{
    slw::json_option("paths", nullptr, "The text files, a list; trained on as one text in this order.").path(),
    slw::bool_option("document_boundaries", "false",
                     "Puts an end-of-document token (id 256) after each file; vocab_size is then 257, else 256."),
    slw::int_option(
        "epochs", "1",
        "How often the training split may be read; 0: as often as needed. The validation and test splits are "
        "read as often as needed.")
        .min("0")
        .max("1000000000"),
};

std::vector<std::string> checked_paths(const slw::Config& config) {
  const bool is_one = config.json("paths").is_string();
  std::vector<std::string> paths = is_one ? std::vector{config.string("paths")} : config.strings("paths");
  if (paths.empty())
    throw slw::Error(SLW_INVALID_ARGUMENT, "text: the option 'paths' names no file; name at least one");
  return paths;
}

// Where a fraction of the stream falls. Neighbouring splits share the fraction, so they share no token.
int64_t cut(double fraction, int64_t size) {
  const double at = std::floor(fraction * static_cast<double>(size) + 0.5);
  return std::min(size, std::max<int64_t>(0, static_cast<int64_t>(at)));
}

class Text {
 public:
  static constexpr uint32_t kFlags = SLW_DS_THREAD_SAFE | SLW_DS_ORDERED;

  Text(slw::Host, const slw::Config& config, const slw_dataset_args& args)
      : seq_length_(args.seq_length),
        seed_(args.seed),
        epochs_(config.integer("epochs")),
        has_boundaries_(config.boolean("document_boundaries")),
        stream_(checked_paths(config), has_boundaries_) {
    if (seq_length_ >= 1) return;
    throw slw::Error(SLW_INVALID_ARGUMENT, slw::cat("text: seq_length is ", seq_length_, ", it has to be at least 1"));
  }

  slw_dataset_info info() const {
    slw_dataset_info info = slw::make<slw_dataset_info>();
    info.size = size_;
    info.vocab_size = has_boundaries_ ? 257 : 256;
    info.eod_id = has_boundaries_ ? kEndOfDocument : -1;
    info.tokenizer = "byte";
    info.tokens_per_epoch = samples_per_epoch_ * seq_length_;
    return info;
  }

  void fields(slw::Fields& fields) const { slw::add_language_fields(fields, seq_length_); }

  void build(const slw_build_args& args) {
    begin_ = cut(args.split_begin, stream_.size());
    const int64_t tokens = std::max<int64_t>(0, cut(args.split_end, stream_.size()) - begin_);
    samples_per_epoch_ = std::max<int64_t>(0, tokens - 1) / seq_length_;
    check_size(args, tokens);
    const bool is_bounded = args.split == SLW_SPLIT_TRAIN && epochs_ > 0;
    const int64_t as_asked = (std::max<int64_t>(args.num_samples, 1) + samples_per_epoch_ - 1) / samples_per_epoch_;
    size_ = (is_bounded ? epochs_ : as_asked) * samples_per_epoch_;
    order_ = std::make_unique<EpochOrder>(seed_, static_cast<uint32_t>(samples_per_epoch_));
  }

  void get(const slw_get_args& args) const {
    slw::check_indices(args, size_, "text");
    const slw::LanguageOuts outs(args, seq_length_);
    std::vector<int64_t> window(static_cast<std::size_t>(seq_length_ + 1));
    for (int64_t i = 0; i < args.n; ++i) {
      stream_.read(place(args.indices[i]).begin, window);
      outs.put(i, window);
    }
  }

  std::string describe_sample(int64_t index) const {
    slw::check_index(index, size_, "text");
    const Place at = place(index);
    nlohmann::json pieces = nlohmann::json::array();
    for (const Piece& piece : stream_.locate(at.begin, seq_length_ + 1)) {
      pieces.push_back({{"file", piece.file->path()}, {"offset", piece.offset}, {"length", piece.length}});
    }
    const nlohmann::json text{{"source", "text"}, {"epoch", at.epoch}, {"window", at.window}, {"pieces", pieces}};
    return text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

  std::string fingerprint() const {
    return slw::cat("text-1 files ", stream_.num_files(), " bytes ", stream_.num_bytes(), " hash ", std::hex,
                    stream_.content_hash());
  }

 private:
  struct Place {
    int64_t epoch, window, begin;  // begin: token of the stream
  };
  Place place(int64_t index) const {
    const int64_t epoch = index / samples_per_epoch_;
    const int64_t window = order_->sample(epoch, static_cast<uint32_t>(index % samples_per_epoch_));
    return {epoch, window, begin_ + window * seq_length_};
  }

  void check_size(const slw_build_args& args, int64_t tokens) const {
    static constexpr const char* kSplits[] = {"training", "validation", "test"};
    const char* split = args.split >= 0 && args.split < 3 ? kSplits[args.split] : "unknown";
    if (samples_per_epoch_ < 1) {
      throw slw::Error(SLW_INVALID_ARGUMENT,
                       slw::cat("text: the ", split, " split has ", tokens, " of ", stream_.size(),
                                " tokens, one sample takes seq_length + 1 = ", seq_length_ + 1,
                                "; give more text in 'paths', a smaller seq_length or another split"));
    }
    if (samples_per_epoch_ > UINT32_MAX) {
      throw slw::Error(SLW_UNSUPPORTED,
                       slw::cat("text: the ", split, " split has ", samples_per_epoch_, " samples, at most ",
                                UINT32_MAX, " are supported; use a larger seq_length"));
    }
  }

  int64_t seq_length_;
  uint64_t seed_;
  int64_t epochs_;
  bool has_boundaries_;
  TokenStream stream_;
  int64_t begin_ = 0, samples_per_epoch_ = 0, size_ = -1;
  std::unique_ptr<EpochOrder> order_;
};

constexpr slw_component kText = slw::dataset<Text>({"text", "Bytes of UTF-8 text files."}, kOptions);
constexpr slw::About kAbout{"org.slipway.text", "0.1.0", "Slipway"};

}  // namespace

SLW_PLUGIN(kAbout, &kText);
