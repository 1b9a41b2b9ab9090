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

// Rows of a table that this rank holds: ids [first, first + rows).
struct Rows {
  int64_t first, count;
  bool holds(int64_t id) const { return id >= first && id - first < count; }
};

// gradient[ids[r]] += dy[r] for all r in order, as far as the rows are here. Threads share the columns, so sums keep
// their order.
void add_to_rows(const at::Tensor& parameter, int64_t first, const at::Tensor& ids, const at::Tensor& dy) {
  if (!parameter.defined() || !parameter.requires_grad()) return;
  const int64_t width = dy.size(-1), count = ids.numel();
  const Rows rows{first, parameter.size(0)};
  float* to = parameter.mutable_grad().mutable_data_ptr<float>();
  const int64_t* id = ids.const_data_ptr<int64_t>();
  const float* from = dy.const_data_ptr<float>();
  at::parallel_for(0, width, 64, [&](int64_t begin, int64_t end) {
    for (int64_t r = 0; r < count; ++r) {
      if (!rows.holds(id[r])) continue;
      float* target = to + (id[r] - first) * width;
      for (int64_t c = begin; c < end; ++c) target[c] += from[r * width + c];
    }
  });
}

// The tokens of a pass, and which rows of the word table are here.
struct Lookup {
  at::Tensor tokens, positions;
  int64_t first_id = 0;
  const TensorParallel* tp = nullptr;
};

// y[r] = word[tokens[r]], zeros where the row is not here, plus add[positions[r]] if there is one.
void look_up(const at::Tensor& word, const Lookup& lookup, const at::Tensor& add, const at::Tensor& y) {
  const int64_t width = word.size(1), first = lookup.first_id;
  const at::Tensor &ids = lookup.tokens, &places = lookup.positions;
  const Rows rows{first, word.size(0)};
  const float *w = word.const_data_ptr<float>(), *p = add.defined() ? add.const_data_ptr<float>() : nullptr;
  const int64_t* id = ids.const_data_ptr<int64_t>();
  const int64_t* place = p == nullptr ? nullptr : places.const_data_ptr<int64_t>();
  float* to = y.mutable_data_ptr<float>();
  at::parallel_for(0, ids.numel(), 16, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const float* row = rows.holds(id[r]) ? w + (id[r] - first) * width : nullptr;
      const float* more = p == nullptr ? nullptr : p + place[r] * width;
      for (int64_t c = 0; c < width; ++c) {
        to[r * width + c] = (row == nullptr ? 0.0f : row[c]) + (more == nullptr ? 0.0f : more[c]);
      }
    }
  });
}

// y[r] += table[places[r]]
void add_rows(const at::Tensor& table, const at::Tensor& places, const at::Tensor& y) {
  const int64_t width = table.size(1);
  const float* from = table.const_data_ptr<float>();
  const int64_t* place = places.const_data_ptr<int64_t>();
  float* to = y.mutable_data_ptr<float>();
  at::parallel_for(0, places.numel(), 16, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      for (int64_t c = 0; c < width; ++c) to[r * width + c] += from[place[r] * width + c];
    }
  });
}

class EmbedFunction : public torch::autograd::Function<EmbedFunction> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& word, const std::optional<at::Tensor>& position,
                            const Lookup& lookup) {
    const at::Tensor& tokens = lookup.tokens;
    ctx->saved_data["first_id"] = lookup.first_id;
    ctx->save_for_backward({word, position.value_or(at::Tensor()), tokens, lookup.positions});
    at::Tensor y = at::empty({tokens.size(0), tokens.size(1), word.size(1)}, word.options());
    look_up(word, lookup, position.value_or(at::Tensor()), y);
    return y;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor dy = gradients[0].contiguous();
    add_to_rows(saved[0], ctx->saved_data["first_id"].toInt(), saved[2], dy);
    add_to_rows(saved[1], 0, saved[3], dy);
    return variable_list(3);
  }
};

// The same over several ranks: each looks up its rows, the sum is everybody's.
class ParallelEmbedFunction : public torch::autograd::Function<ParallelEmbedFunction> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& word, const std::optional<at::Tensor>& position,
                            const Lookup& lookup) {
    const auto& [tokens, positions, first_id, tp] = lookup;
    ctx->saved_data["first_id"] = first_id;
    save_ranks(ctx, tp);
    at::Tensor partial = at::empty({tokens.numel(), word.size(1)}, word.options());
    look_up(word, lookup, {}, partial);
    slw::TorchWork work;
    const at::Tensor reduced = reduce_tokens(partial, *tp, work);
    work.wait();
    at::Tensor y = kept(reduced, *tp);
    at::Tensor places = positions.reshape({-1});
    if (tp->shares_tokens) places = places.narrow(0, tp->rank * y.size(0), y.size(0));
    if (position) add_rows(*position, places, y);
    ctx->save_for_backward({word, position.value_or(at::Tensor()), tokens, places});
    return y;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    const variable_list saved = ctx->get_saved_variables();
    const TensorParallel* tp = &saved_ranks(ctx);
    const at::Tensor dy = gradients[0].contiguous();
    slw::TorchWork work;
    const at::Tensor all = tp->shares_tokens ? gather_tokens(dy, *tp, work) : dy;
    add_to_rows(saved[1], 0, saved[3], dy);
    work.wait();
    add_to_rows(saved[0], ctx->saved_data["first_id"].toInt(), saved[2], all);
    return variable_list(3);
  }
};

}  // namespace

at::Tensor embed(const EmbeddingWeights& weights, const at::Tensor& tokens, const at::Tensor& positions,
                 const TensorParallel& tp) {
  const at::Tensor ids = tokens.contiguous();
  check_ids(ids, weights.vocab_size, "token id");
  at::Tensor places = ids;
  std::optional<at::Tensor> position;
  if (weights.position.defined()) {
    position = weights.position;
    places = positions.contiguous();
    check_ids(places, weights.position.size(0), "position");
  }
  const Lookup lookup{ids, places, weights.first_id, &tp};
  return tp.is_active() ? ParallelEmbedFunction::apply(weights.word, position, lookup)
                        : EmbedFunction::apply(weights.word, position, lookup);
}

}  // namespace slipway::transformer
