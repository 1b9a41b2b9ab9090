#include "launcher/worker/generate_command.h"

#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <thread>

#include "core/base/file.h"
#include "core/base/progress_bar.h"
#include "core/base/strings.h"
#include "core/comm/compute_threads.h"
#include "core/comm/cpu_memory.h"
#include "core/config/manifest.h"
#include "core/generate/generate.h"
#include "core/plugin_host/host_tokenizer.h"
#include "core/plugin_host/option_specs.h"
#include "core/pretrain/plan_run.h"
#include "launcher/worker/commands.h"

namespace slipway {
namespace {

struct GenerateOptions {
  std::string checkpoint, prompt, prompt_file, tokenizer;
  int64_t max_new_tokens = 200, num_samples = 1, seed = 1234, cpu_threads = 0;
  Sampling sampling;
  std::vector<std::string> plugin_path;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("checkpoint", self.checkpoint, "Folder of a run, whose newest checkpoint is taken, or of one checkpoint.",
          {.is_path = true});
    visit("prompt", self.prompt, "The text to go on from.");
    visit("prompt_file", self.prompt_file, "A file with the text to go on from, instead of prompt.", {.is_path = true});
    visit("max_new_tokens", self.max_new_tokens, "Tokens to generate after the prompt.", {.min = 0});
    visit("num_samples", self.num_samples, "Continuations of the prompt, made as one batch.", {.min = 1, .max = 4096});
    visit("temperature", self.sampling.temperature, "Logits are divided by it; 0: always the likeliest token.",
          {.min = 0});
    visit("top_k", self.sampling.top_k, "Draw from the k likeliest tokens only; 0: from all.", {.min = 0});
    visit("top_p", self.sampling.top_p,
          "Draw from the likeliest tokens whose probabilities reach this together, after top_k.", {.min = 0, .max = 1});
    visit("seed", self.seed, "The same seed gives the same text.", {.min = 0});
    visit("tokenizer", self.tokenizer, "Name of the tokenizer; default: the one whose ids the training data has.");
    visit("cpu_threads", self.cpu_threads, "Compute threads; 0: as many as the machine has cores.", {.min = 0});
    visit("plugin_path", self.plugin_path, "Folders to search for plugins, before SLIPWAY_PLUGIN_PATH.",
          {.is_path = true});
  }
};

struct Asked {
  GenerateOptions options;
  std::vector<std::string> plugin_flags;  // as given
};

Asked read_arguments(const Arguments& arguments) {
  const std::string folder = std::filesystem::current_path().string();
  const Manifest manifest = Manifest::parse({generate_section()}, arguments, folder);
  Asked asked{manifest.resolve({}).read<GenerateOptions>("generate"), {}};
  for (const PluginEntry& plugin : manifest.plugins()) {
    asked.plugin_flags.insert(asked.plugin_flags.end(), {"--plugin", plugin.file});
  }
  if (!asked.options.plugin_path.empty()) {
    asked.plugin_flags.insert(asked.plugin_flags.end(), {"--plugin-path", join(asked.options.plugin_path, ",")});
  }
  const GenerateOptions& options = asked.options;
  if (options.checkpoint.empty()) throw ConfigError("which model? Give --checkpoint RUN, the folder of a run");
  if (options.prompt.empty() == options.prompt_file.empty()) {
    throw ConfigError("give the text to go on from, by --prompt TEXT or by --prompt-file FILE, one of them");
  }
  check_sampling(options.sampling);
  return asked;
}

// The tokenizer of the data, or the one asked for.
std::unique_ptr<HostTokenizer> make_tokenizer(const Asked& asked, const Vocabulary& vocabulary, const Host& host,
                                              Reporter& reporter) {
  const std::string name = asked.options.tokenizer.empty() ? vocabulary.tokenizer : asked.options.tokenizer;
  if (name.empty()) {
    throw ConfigError(
        "the training data does not say which tokenizer its ids are of; give --tokenizer NAME, e.g. byte");
  }
  PluginRegistry registry(plugin_folders(asked.plugin_flags), libtorch_build(), reporter);
  for (size_t i = 0; i + 1 < asked.plugin_flags.size(); i += 2) {
    if (asked.plugin_flags[i] == "--plugin") registry.load(asked.plugin_flags[i + 1]);
  }
  const Component component = registry.find(SLW_KIND_TOKENIZER, name);
  nlohmann::json options =
      complete_options(option_specs(component), nlohmann::json::object(), {"tokenizer " + name, ""});
  return std::make_unique<HostTokenizer>(component, host, options.dump());
}

std::vector<int64_t> encode_prompt(const std::string& text, const HostTokenizer& tokenizer, int64_t vocab_size) {
  std::vector<int64_t> ids = tokenizer.encode(text);
  if (ids.empty()) throw ConfigError("the prompt is empty; give at least one token to go on from");
  for (const int64_t id : ids) {
    if (id >= 0 && id < vocab_size) continue;
    throw ConfigError("the prompt has the token " + std::to_string(id) + ", the model knows 0 to " +
                      std::to_string(vocab_size - 1) + "; is this the tokenizer that it was trained with?");
  }
  return ids;
}

// One sample is shown as it grows; several one after the other, each under a line with its number.
class Printer {
 public:
  Printer(const HostTokenizer& tokenizer, std::string prompt, int64_t num_samples)
      : tokenizer_(tokenizer), prompt_(std::move(prompt)), texts_(static_cast<size_t>(num_samples)) {
    if (texts_.size() == 1) std::cout << prompt_ << std::flush;
  }
  void add(int64_t sample, int64_t token) {
    const std::string text = tokenizer_.decode(std::span(&token, 1));
    if (texts_.size() == 1) std::cout << text << std::flush;
    texts_[static_cast<size_t>(sample)] += text;
    require_written();
  }
  void finish() {
    if (texts_.size() == 1) std::cout << "\n";
    for (size_t i = 0; texts_.size() > 1 && i < texts_.size(); ++i) {
      std::cout << "--- sample " << i + 1 << "\n" << prompt_ << texts_[i] << "\n";
    }
    std::cout.flush();
    require_written();
  }

 private:
  static void require_written() {
    if (std::cout) return;
    throw Error(ExitCode::kUsage, "cannot write the text: whoever read it is gone, or the disk is full");
  }

  const HostTokenizer& tokenizer_;
  std::string prompt_;
  std::vector<std::string> texts_;
};

GenerateRequest request_of(const GenerateOptions& options, const Vocabulary& vocabulary,
                           const HostTokenizer& tokenizer) {
  const slw_tokenizer_info info = tokenizer.info();
  GenerateRequest request;
  request.num_samples = options.num_samples;
  request.max_new_tokens = options.max_new_tokens;
  request.num_tokens = info.vocab_size;
  request.eod_id = vocabulary.eod_id >= 0 ? vocabulary.eod_id : info.eod_id;
  request.seed = static_cast<uint64_t>(options.seed);
  request.sampling = options.sampling;
  return request;
}

}  // namespace

SectionSpec generate_section() { return {"generate", option_rows<GenerateOptions>(), ProviderUse::kNone, true}; }

ExitCode generate_command(const Arguments& arguments, const CommandContext& context) {
  const Asked asked = read_arguments(arguments);
  const GenerateOptions& options = asked.options;
  Log log(LogLevel::kWarning);
  const CheckpointReader reader(find_checkpoint(options.checkpoint, log));
  CheckpointPlan plan = plan_of_checkpoint(reader, asked.plugin_flags, context.reporter, log);
  const auto cores = static_cast<int64_t>(std::max(1u, std::thread::hardware_concurrency()));
  plan.plan.config.train.cpu_threads = options.cpu_threads == 0 ? cores : options.cpu_threads;

  use_memory_pool();
  LaunchContext launch;
  launch.log = &log;
  LanguageModel model(plan, reader, launch);
  const auto tokenizer = make_tokenizer(asked, plan.vocabulary, model.host(), context.reporter);
  const std::string prompt =
      options.prompt_file.empty() ? options.prompt : read_file(options.prompt_file, ExitCode::kUsage);
  GenerateRequest request = request_of(options, plan.vocabulary, *tokenizer);
  request.prompt = encode_prompt(prompt, *tokenizer, model.vocab_size());
  const auto length = static_cast<int64_t>(request.prompt.size()) + request.max_new_tokens;
  if (length > model.seq_length()) {
    log.warning("the model sees " + std::to_string(model.seq_length()) +
                " tokens at once; of longer texts it forgets the beginning");
  }
  Printer printer(*tokenizer, prompt, options.num_samples);
  // With one sample the text itself shows how far it is.
  ProgressBar bar(options.num_samples > 1 ? &log : nullptr, "generating", options.num_samples * options.max_new_tokens);
  generate(model, request, [&](int64_t sample, int64_t token) {
    printer.add(sample, token);
    bar.advance();
  });
  printer.finish();
  return ExitCode::kDone;
}

}  // namespace slipway
