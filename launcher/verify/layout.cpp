#include "launcher/verify/layout.h"

#include <charconv>
#include <set>

#include "core/base/error.h"
#include "core/base/strings.h"

namespace slipway {
namespace {

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw ConfigError("layout " + in_quotes(text) + ": " + why +
                    "; a layout is tpN ppN vppN cpN epN etpN dpN mbsN distopt fsdp sp in any order, each at most once, "
                    "for example tp2pp2dp2distopt");
}

class LayoutParser {
 public:
  explicit LayoutParser(const std::string& text) : text_(text) { layout_.name = text; }

  Layout run() {
    if (text_.empty()) refuse(text_, "it is empty");
    while (at_ < text_.size()) item();
    return layout_;
  }

 private:
  // Words before sizes, longer ones first: "distopt" is no "d..." and "vpp2" no "pp2".
  void item() {
    if (word("distopt")) {
      layout_.data_parallel = "distributed_optimizer";
    } else if (word("fsdp")) {
      layout_.data_parallel = "fsdp";
    } else if (word("sp")) {
      layout_.sequence_parallel = true;
    } else if (!size("vpp", layout_.vpp) && !size("etp", layout_.etp) && !size("mbs", layout_.micro_batch) &&
               !size("tp", layout_.tp) && !size("pp", layout_.pp) && !size("cp", layout_.cp) &&
               !size("ep", layout_.ep) && !size("dp", layout_.dp)) {
      refuse(text_, "what is " + in_quotes(text_.substr(at_)) + "?");
    }
  }
  bool word(const std::string& name) {
    if (text_.compare(at_, name.size(), name) != 0) return false;
    at_ += name.size();
    const bool is_backend = name != "sp";
    if (!seen_.insert(is_backend ? "backend" : name).second) refuse(text_, "it has " + name + " beside another");
    return true;
  }
  bool size(const std::string& name, int& value) {
    if (text_.compare(at_, name.size(), name) != 0) return false;
    const char *begin = text_.data() + at_ + name.size(), *end = text_.data() + text_.size();
    const auto [stop, error] = std::from_chars(begin, end, value);
    constexpr int kMost = 1024;
    if (error != std::errc() || value < 1 || value > kMost) {
      refuse(text_, name + " wants a number from 1 to " + std::to_string(kMost));
    }
    if (!seen_.insert(name).second) refuse(text_, "it has " + name + " twice");
    at_ = static_cast<size_t>(stop - text_.data());
    return true;
  }

  const std::string& text_;
  size_t at_ = 0;
  Layout layout_;
  std::set<std::string> seen_;
};

}  // namespace

Layout parse_layout(const std::string& text) { return LayoutParser(text).run(); }

std::vector<Layout> parse_layouts(const std::string& text) {
  std::vector<Layout> layouts;
  std::set<std::string> names;
  for (const std::string& part : split(text, ',')) {
    layouts.push_back(parse_layout(trim(part)));
    if (!names.insert(layouts.back().name).second) {
      throw ConfigError("layout " + in_quotes(layouts.back().name) + " is listed twice; name it once");
    }
  }
  return layouts;
}

std::vector<std::string> layout_flags(const Layout& layout) {
  std::vector<std::string> flags;
  const auto set = [&](const std::string& flag, const std::string& value) {
    flags.insert(flags.end(), {"--" + flag, value});
  };
  set("tensor-model-parallel-size", std::to_string(layout.tp));
  set("pipeline-model-parallel-size", std::to_string(layout.pp));
  set("virtual-pipeline-model-parallel-size", layout.vpp > 1 ? std::to_string(layout.vpp) : "null");
  set("context-parallel-size", std::to_string(layout.cp));
  set("expert-model-parallel-size", std::to_string(layout.ep));
  set("expert-tensor-parallel-size", std::to_string(layout.etp));
  flags.emplace_back(layout.sequence_parallel ? "--sequence-parallel" : "--no-sequence-parallel");
  for (const char* shape : {"num-layers-per-virtual-pipeline-stage", "num-layers-in-first-pipeline-stage",
                            "num-layers-in-last-pipeline-stage", "pipeline-model-parallel-layout", "pipeline-schedule",
                            "microbatch-group-size-per-vp-stage"}) {
    set(shape, "null");
  }
  for (const char* split : {"account-for-embedding-in-pipeline-split", "account-for-loss-in-pipeline-split"}) {
    flags.push_back("--no-" + std::string(split));
  }
  if (layout.micro_batch > 0) set("micro-batch-size", std::to_string(layout.micro_batch));
  if (!layout.data_parallel.empty()) set("data-parallel.use", layout.data_parallel);
  return flags;
}

}  // namespace slipway
