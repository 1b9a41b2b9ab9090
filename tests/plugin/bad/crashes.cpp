// Wrong: dataset "crashes" crashes in the call that its option `in` names, in the way that `by` names.
#include <slipway/sdk.hpp>

#include <cstdlib>
#include <thread>

namespace {

constexpr const char* kCalls[] = {"create", "build", "get", "destroy", nullptr};
constexpr const char* kWays[] = {"fault", "abort", "overflow", "thread", nullptr};
constexpr slw::Options kOptions{
    slw::string_option("in", R"("get")", "The call that crashes.").choices(kCalls),
    slw::string_option("by", R"("fault")", "How it does.").choices(kWays),
};

void fault() {
  volatile int* const nowhere = nullptr;
  *nowhere = 1;
}

// The frames have to stay: what is done after the call keeps it from becoming a loop.
int overflow(int depth) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  return depth < 0 ? frame[0] : overflow(depth + 1) + frame[0];
}

class Crashes {
 public:
  static constexpr uint32_t kFlags = SLW_DS_THREAD_SAFE;

  Crashes(slw::Host, const slw::Config& config, const slw_dataset_args& args)
      : in_(config.string("in")), by_(config.string("by")), seq_length_(args.seq_length) {
    crash_in("create");
  }
  ~Crashes() { crash_in("destroy"); }

  slw_dataset_info info() const {
    slw_dataset_info info = slw::make<slw_dataset_info>();
    info.size = size_;
    info.vocab_size = 250;
    info.eod_id = -1;
    return info;
  }
  void fields(slw::Fields& fields) const { slw::add_language_fields(fields, seq_length_); }
  void build(const slw_build_args& args) {
    crash_in("build");
    size_ = args.num_samples;
  }
  void get(const slw_get_args& args) const {
    crash_in("get");
    const slw::LanguageOuts outs(args, seq_length_);
    for (int64_t i = 0; i < args.n; ++i) outs.put(i, std::vector<int64_t>(static_cast<size_t>(seq_length_) + 1, 1));
  }

 private:
  void crash_in(const char* call) const {
    if (in_ != call) return;
    if (by_ == "abort") std::abort();
    if (by_ == "overflow") std::exit(overflow(0));
    if (by_ == "thread") std::thread(fault).join();
    fault();
  }

  std::string in_, by_;
  int64_t seq_length_, size_ = -1;
};

constexpr slw_component kCrashes = slw::dataset<Crashes>({"crashes", "Crashes when asked to."}, kOptions);
constexpr slw::About kAbout{"org.slipway.tests.crashes", "0.1.0", "tests"};

}  // namespace

SLW_PLUGIN(kAbout, &kCrashes);
