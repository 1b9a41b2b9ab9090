#include "core/generate/generate.h"

#include <algorithm>

namespace slipway {
namespace {

// What the model sees of a sample.
std::vector<int64_t> tail(const std::vector<int64_t>& tokens, int64_t length) {
  const auto seen = std::min<int64_t>(length, static_cast<int64_t>(tokens.size()));
  return {tokens.end() - seen, tokens.end()};
}

}  // namespace

void generate(LanguageModel& model, const GenerateRequest& request,
              const std::function<void(int64_t sample, int64_t token)>& give) {
  const auto vocab = static_cast<size_t>(model.vocab_size());
  const size_t drawable = std::min(vocab, static_cast<size_t>(request.num_tokens));
  const auto count = static_cast<size_t>(request.num_samples);
  std::vector<std::vector<int64_t>> samples(count, request.prompt), contexts(count);
  std::vector<bool> is_over(count);
  for (int64_t step = 0; step < request.max_new_tokens; ++step) {
    if (std::all_of(is_over.begin(), is_over.end(), [](bool over) { return over; })) return;
    // Those that are over stay in the batch, so that its shape, and with it every bit of the others, stays the same.
    for (size_t i = 0; i < count; ++i) contexts[i] = tail(samples[i], model.seq_length());
    const std::span<const float> logits = model.next_logits(contexts);
    for (size_t i = 0; i < count; ++i) {
      const double uniform = sampling_uniform(request.seed, static_cast<int64_t>(i), step);
      const int64_t token = pick_token(logits.subspan(i * vocab, drawable), request.sampling, uniform);
      samples[i].push_back(token);
      is_over[i] = is_over[i] || token == request.eod_id;
      if (!is_over[i]) give(static_cast<int64_t>(i), token);
    }
  }
}

}  // namespace slipway
