#include "plugins/transformer/embedding.h"

#include <slipway/torch.hpp>

namespace slipway::transformer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

void check_ids(const at::Tensor& ids, int64_t limit, const char* what) {
  const int64_t* values = ids.const_data_ptr<int64_t>();
  const int64_t *end = values + ids.numel(),
                *bad = std::find_if(values, end, [limit](int64_t id) { return id < 0 || id >= limit; });
  if (bad == end) return;
  const int64_t at = bad - values;
  throw slw::Error(SLW_INVALID_ARGUMENT, slw::cat(what, " ", *bad, " in row ", at / ids.size(1), ", column ",
                                                  at % ids.size(1), " of the microbatch is outside [0, ", limit, ")"));
}

// gradient[ids[r]] += dy[r] for all r in order. Threads share the columns, so sums keep their order.
void scatter_add(const at::Tensor& parameter, const at::Tensor& ids, const at::Tensor& dy) {
  if (!parameter.defined() || !parameter.requires_grad()) return;
  const int64_t width = dy.size(-1), rows = ids.numel();
  float* to = parameter.mutable_grad().mutable_data_ptr<float>();
  const int64_t* id = ids.const_data_ptr<int64_t>();
  const float* from = dy.const_data_ptr<float>();
  at::parallel_for(0, width, 64, [&](int64_t begin, int64_t end) {
    for (int64_t r = 0; r < rows; ++r) {
      float* target = to + id[r] * width;
      for (int64_t c = begin; c < end; ++c) target[c] += from[r * width + c];
    }
  });
}

class EmbedFunction : public torch::autograd::Function<EmbedFunction> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& word, const std::optional<at::Tensor>& position,
                            const at::Tensor& tokens, const at::Tensor& positions) {
    ctx->save_for_backward({word, position.value_or(at::Tensor()), tokens, positions});
    const int64_t width = word.size(1);
    at::Tensor y = at::empty({tokens.size(0), tokens.size(1), width}, word.options());
    const float *w = word.const_data_ptr<float>(), *p = position ? position->const_data_ptr<float>() : nullptr;
    const int64_t* token = tokens.const_data_ptr<int64_t>();
    const int64_t* place = position ? positions.const_data_ptr<int64_t>() : nullptr;
    float* to = y.mutable_data_ptr<float>();
    at::parallel_for(0, tokens.numel(), 16, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const float* row = w + token[r] * width;
        const float* add = p == nullptr ? nullptr : p + place[r] * width;
        for (int64_t c = 0; c < width; ++c) to[r * width + c] = add == nullptr ? row[c] : row[c] + add[c];
      }
    });
    return y;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor dy = gradients[0].contiguous();
    scatter_add(saved[0], saved[2], dy);
    scatter_add(saved[1], saved[3], dy);
    return variable_list(4);
  }
};

}  // namespace

at::Tensor embed(const EmbeddingWeights& weights, const at::Tensor& tokens, const at::Tensor& positions) {
  const at::Tensor ids = tokens.contiguous();
  check_ids(ids, weights.vocab_size, "token id");
  if (!weights.position.defined()) return EmbedFunction::apply(weights.word, std::nullopt, ids, ids);
  const at::Tensor places = positions.contiguous();
  check_ids(places, weights.position.size(0), "position");
  return EmbedFunction::apply(weights.word, std::optional<at::Tensor>(weights.position), ids, places);
}

}  // namespace slipway::transformer
