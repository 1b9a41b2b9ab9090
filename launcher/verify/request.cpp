#include "launcher/verify/request.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/strings.h"
#include "core/config/fields.h"
#include "core/config/section.h"

namespace slipway {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

struct VerifyOptions {
  std::string manifest, layouts, output_dir;
  int64_t steps = 10;
  bool json = false;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("manifest", self.manifest, "What to train.");
    visit("layouts", self.layouts, "Layouts to compare with one rank, joined by commas.");
    visit("output_dir", self.output_dir, "Folder that keeps the runs.");
    visit("steps", self.steps, "Steps to train.", {.min = 1});
    visit("json", self.json, "Print JSON.");
  }
};

struct SplitArguments {
  std::vector<FlagArgument> own, others;
};

SplitArguments split_arguments(const Words& arguments) {
  std::set<std::string> own{"no_json"};
  for (const OptionSpec& row : option_rows<VerifyOptions>()) own.insert(row.name);
  SplitArguments split;
  for (const FlagArgument& flag : split_flags(arguments)) {
    for (const char* taken : {"nproc_per_node", "resume", "skip_train", "exit_interval", "save_initial"}) {
      if (flag.name != taken) continue;
      throw ConfigError("command line: " + flag.spelled + " is set by verify-parallelism itself; leave it out");
    }
    (own.contains(flag.name) ? split.own : split.others).push_back(flag);
    if (flag.name == "manifest") split.others.push_back(flag);
  }
  return split;
}

VerifyOptions read_options(const std::vector<FlagArgument>& flags) {
  const std::vector<OptionSpec> rows = option_rows<VerifyOptions>();
  FlagTable table;
  table.add_core("verify-parallelism", rows, /*dotted=*/false);
  json given = json::object();
  for (const Assignment& assignment : table.assign(flags)) given[assignment.option] = assignment.value;
  return read_config<VerifyOptions>(complete_options(rows, given, {"command line", "verify-parallelism"}));
}

// The option that a flag sets: "train.micro_batch_size" and "micro_batch_size" are one.
std::string option_of(const std::string& flag_name) {
  if (flag_name == "data_parallel.use") return "data_parallel";
  return flag_name.substr(flag_name.rfind('.') + 1);
}

std::optional<int64_t> count_of(const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_count = error == std::errc() && end == text.data() + text.size() && value >= 1;
  return is_count ? std::optional(value) : std::nullopt;
}

// The counts in section train as command line and manifest give them. What is no count is left to the runs to refuse.
class TrainCounts {
 public:
  TrainCounts(const std::string& manifest, const std::vector<FlagArgument>& flags) : flags_(flags) {
    const json document =
        json::parse(read_file(manifest, ExitCode::kUsage), nullptr, /*exceptions=*/false, /*ignore_comments=*/true);
    if (document.is_object()) train_ = document.value("train", json());
  }

  std::optional<int64_t> find(const std::string& option) const {
    for (const FlagArgument& flag : flags_) {
      if (option_of(flag.name) == option) return count_of(single_value(flag));
    }
    const auto found = train_.find(option);
    return found != train_.end() && found->is_number_integer() ? count_of(found->dump()) : std::nullopt;
  }

 private:
  const std::vector<FlagArgument>& flags_;
  json train_;
};

int64_t global_batch_of(const TrainCounts& train, const std::vector<Layout>& layouts) {
  if (const auto batch = train.find("global_batch_size")) return *batch;
  int64_t batch = 1;
  for (const Layout& layout : layouts) {
    const int64_t micro = layout.micro_batch > 0 ? layout.micro_batch : train.find("micro_batch_size").value_or(1);
    batch = std::max(batch, micro * layout.dp);
  }
  return batch;
}

void append(Words& words, const FlagArgument& flag) {
  words.push_back(flag.spelled + (flag.inline_value ? "=" + *flag.inline_value : ""));
  words.insert(words.end(), flag.following.begin(), flag.following.end());
}

}  // namespace

VerifyRequest parse_verify_request(const Words& arguments) {
  const SplitArguments split = split_arguments(arguments);
  const VerifyOptions options = read_options(split.own);
  if (options.manifest.empty()) throw ConfigError("what is to be verified? Give --manifest FILE");
  if (options.layouts.empty()) {
    throw ConfigError("which layouts? Give --layouts, for example tp2,pp2,dp2,tp2pp2,pp2vpp2,dp2distopt,tp2sp");
  }
  VerifyRequest request;
  request.layouts = parse_layouts(options.layouts);
  request.steps = options.steps;
  request.as_json = options.json;
  request.output_dir = options.output_dir;
  request.passed_on = split.others;
  request.global_batch = global_batch_of(TrainCounts(options.manifest, split.others), request.layouts);
  return request;
}

Words run_arguments(const VerifyRequest& request, const Layout& layout, const std::string& folder) {
  const Words of_layout = layout_flags(layout);
  std::set<std::string> overridden{"global_batch_size"};
  for (const FlagArgument& flag : split_flags(of_layout)) overridden.insert(option_of(flag.name));
  Words words;
  bool has_threads = false;
  for (const FlagArgument& flag : request.passed_on) {
    if (!overridden.contains(option_of(flag.name))) append(words, flag);
    has_threads = has_threads || option_of(flag.name) == "cpu_threads";
  }
  words.insert(words.end(), of_layout.begin(), of_layout.end());
  words.insert(words.end(), {"--global-batch-size", std::to_string(request.global_batch),              //
                             "--exit-interval", std::to_string(request.steps),                         //
                             "--exit-duration-in-mins", "null", "--eval-interval", "0",                //
                             "--eval-iters", "0", "--save", "--save-interval", "0", "--save-initial",  //
                             "--output-dir", folder});
  if (!has_threads) words.insert(words.end(), {"--cpu-threads", "1"});
  return words;
}

}  // namespace slipway
