// The layouts that the proving tools run: text such as "tp2pp2dp2distopt" and the flags that it means. Values.
#pragma once

#include <string>
#include <vector>

namespace slipway {

struct Layout {
  std::string name = "1 rank";
  int tp = 1, pp = 1, vpp = 1, cp = 1, ep = 1, etp = 1, dp = 1;
  int micro_batch = 0;  // 0: the manifest's
  bool sequence_parallel = false;
  std::string data_parallel;  // provider; "": the manifest's

  int world_size() const { return tp * pp * cp * dp; }
};

// One layout of the grammar: tpN ppN vppN cpN epN etpN dpN mbsN, and distopt, fsdp, sp, in any order, each once; what
// is not named is 1. Throws ConfigError that shows the grammar.
Layout parse_layout(const std::string& text);

// Layouts joined by commas, at least one, each once. Throws ConfigError.
std::vector<Layout> parse_layouts(const std::string& text);

// Flags that set every parallel option, so that nothing of the manifest's own layout is left.
std::vector<std::string> layout_flags(const Layout& layout);

}  // namespace slipway
