// Numbers to optimise, in one piece, and ways to hand them to an optimizer.
#pragma once

#include <random>
#include <vector>

#include "tests/conformance/optimizer/optimizer_instance.h"

struct Problem {
  std::vector<float> param, grad;
  std::vector<std::vector<float>> states;

  bool operator==(const Problem&) const = default;
  int64_t size() const { return static_cast<int64_t>(param.size()); }
};

inline std::vector<float> normal_numbers(int64_t n, uint32_t seed, float deviation) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> draw(0.0f, deviation);
  std::vector<float> numbers(static_cast<std::size_t>(n));
  for (float& number : numbers) number = draw(generator);
  return numbers;
}

// States as `slots` say. REQUIRES: all are as long as the shard.
inline Problem make_problem(int64_t n, const std::vector<OptimizerSlot>& slots) {
  Problem problem{normal_numbers(n, 1, 0.5f), normal_numbers(n, 2, 0.1f), {}};
  for (const OptimizerSlot& slot : slots) {
    problem.states.emplace_back(static_cast<std::size_t>(n), static_cast<float>(slot.fill));
  }
  return problem;
}

// Ascending, from 0 to n, `pieces` pieces.
inline std::vector<int64_t> random_cuts(int64_t n, int pieces, uint32_t seed) {
  std::mt19937 generator(seed);
  std::vector<int64_t> cuts{0, n};
  for (int i = 1; i < pieces; ++i) cuts.push_back(static_cast<int64_t>(generator()) % (n + 1));
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

struct StepOptions {
  int64_t step = 1;
  double grad_scale = 1.0;
  double lr = 0.01;
};

// One update of the flat pieces between `cuts`, in one call.
inline void step_pieces(OptimizerInstance& optimizer, Problem& problem, const std::vector<int64_t>& cuts,
                        const StepOptions& options = {}) {
  std::deque<TestShard> shards;
  std::vector<const slw_shard*> pointers;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    const int64_t begin = cuts[i], n = cuts[i + 1] - begin;
    std::vector<FloatView> states;
    for (std::vector<float>& state : problem.states) states.push_back(flat_view(state.data() + begin, n));
    TestShard& shard = shards.emplace_back(flat_view(problem.param.data() + begin, n),
                                           flat_view(problem.grad.data() + begin, n), std::move(states));
    shard->flat_offset = begin;
    shard->step = options.step;
    shard->lr = options.lr;
    pointers.push_back(shard.get());
  }
  optimizer.step(pointers, options.grad_scale);
}

// `num_steps` updates in one piece, each with another gradient.
inline void step_often(OptimizerInstance& optimizer, Problem& problem, int64_t num_steps) {
  for (int64_t step = 1; step <= num_steps; ++step) {
    problem.grad = normal_numbers(problem.size(), static_cast<uint32_t>(10 + step), 0.1f);
    step_pieces(optimizer, problem, {0, problem.size()}, {step});
  }
}
