#include "core/parallel/stage_layout.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/strings.h"

namespace slipway {
namespace {

constexpr size_t kLongest = 1 << 20;  // letters, written out
constexpr int kDeepest = 16;

std::string shown(const std::string& layout) {
  constexpr size_t kMost = 200;
  return in_quotes(layout.size() > kMost ? layout.substr(0, kMost) + "..." : layout);
}

class LayoutParser {
 public:
  explicit LayoutParser(const std::string& text) : text_(text) {}

  std::string whole() {
    std::string result = sequence(0);
    if (at_ < text_.size()) refuse("')' without '('");
    return result;
  }

 private:
  // Items up to ')' or the end.
  std::string sequence(int depth) {
    if (depth > kDeepest) refuse("brackets are nested too deeply");
    std::string result;
    for (skip(); at_ < text_.size() && text_[at_] != ')'; skip()) {
      const std::string one = item(depth);
      for (int64_t n = times(); n > 0 && !one.empty(); --n) {
        result += one;
        if (result.size() > kLongest) refuse("the layout is too long");
      }
    }
    return result;
  }
  std::string item(int depth) {
    const char letter = text_[at_++];
    if (letter == '(') {
      std::string inner = sequence(depth + 1);
      if (at_ == text_.size()) refuse("'(' is not closed");
      ++at_;
      return inner;
    }
    if (letter == 'm') refuse("multi-token prediction ('m') is not offered");
    if (std::string("EtL|").find(letter) == std::string::npos) {
      --at_;
      refuse("allowed are E, t, L, |, ( )*N, commas");
    }
    return {letter};
  }
  // The N of "*N"; 1 without.
  int64_t times() {
    skip();
    if (at_ == text_.size() || text_[at_] != '*') return 1;
    ++at_;
    skip();
    int64_t count = 0;
    const size_t begin = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9' && count <= 1 << 20) {
      count = count * 10 + (text_[at_++] - '0');
    }
    if (at_ == begin || count < 1 || count > 1 << 20) refuse("'*' wants a number from 1 on");
    return count;
  }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ',' || text_[at_] == ' ')) ++at_;
  }
  [[noreturn]] void refuse(const std::string& why) const {
    throw ConfigError("parallel.pipeline_model_parallel_layout is " + shown(text_) + ", at character " +
                      std::to_string(at_ + 1) + ": " + why);
  }

  const std::string& text_;
  size_t at_ = 0;
};

}  // namespace

std::vector<std::string> parse_stage_layout(const std::string& layout) {
  return split(LayoutParser(layout).whole(), '|');
}

std::vector<int64_t> layers_of_layout(const std::string& layout, int64_t num_stages, int64_t num_layers) {
  const std::vector<std::string> stages = parse_stage_layout(layout);
  const auto refuse = [&](const std::string& why) {
    throw ConfigError("parallel.pipeline_model_parallel_layout is " + shown(layout) + ": " + why);
  };
  if (static_cast<int64_t>(stages.size()) != num_stages) {
    refuse("it has " + std::to_string(stages.size()) + " stages, pipeline ranks x chunks make " +
           std::to_string(num_stages));
  }
  std::string all;
  std::vector<int64_t> sizes;
  for (const std::string& stage : stages) {
    all += stage;
    sizes.push_back(std::count(stage.begin(), stage.end(), 't'));
  }
  const int64_t layers = std::count(all.begin(), all.end(), 't');
  if (layers != num_layers) {
    refuse("it has " + std::to_string(layers) + " layers (t), the model " + std::to_string(num_layers));
  }
  const bool begins = stages.front().starts_with('E') && std::count(all.begin(), all.end(), 'E') == 1;
  const bool ends = stages.back().ends_with('L') && std::count(all.begin(), all.end(), 'L') == 1;
  if (!begins || !ends) refuse("the first stage has to begin with the only E, the last to end with the only L");
  return sizes;
}

}  // namespace slipway
