// Every mistake a user makes ends before training, with an exit code of its kind and a message that says what is wrong,
// where, and what to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/program.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Matcher;
using Text = const std::string&;

class BadInput : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& content) const {
    const std::string path = (folder_.path() / name).string();
    std::ofstream(path) << content;
    return path;
  }
  // tiny.json with one piece of text replaced.
  std::string tiny_with(const std::string& from, const std::string& to) const {
    std::ifstream file(std::string(std::getenv("SLIPWAY_SOURCE_DIR")) + "/launcher/manifests/tiny.json");
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const size_t at = text.find(from);
    if (at == std::string::npos) throw std::runtime_error("tiny.json has no " + from);
    return write("manifest.json", text.replace(at, from.size(), to));
  }
  std::string tiny() const { return tiny_with("gpt", "gpt"); }
  std::string text_manifest(const std::string& path) const {
    return tiny_with(R"({"use": "mock", "vocab_size": 250})", R"({"use": "text", "paths": [")" + path + "\"]}");
  }

  void expect_refusal(std::vector<std::string> options, int exit_code, const Matcher<Text>& message) const {
    std::vector<std::string> command{built_program("slipway"), "train", "--output-dir",
                                     (folder_.path() / "run").string()};
    command.insert(command.end(), options.begin(), options.end());
    const ProgramResult result = run_program(command);
    EXPECT_EQ(result.exit_code, exit_code) << result.out;
    EXPECT_THAT(result.out, message);
    EXPECT_THAT(result.out, Not(HasSubstr("terminate called")));
  }

  TempFolder folder_;
};

TEST_F(BadInput, UnknownManifestKeyOffersTheNearestName) {
  expect_refusal({"--manifest", tiny_with("micro_batch_size", "micro_bach_size")}, 2,
                 AllOf(HasSubstr("manifest.json"), HasSubstr("micro_bach_size"), HasSubstr("section \"train\""),
                       HasSubstr("mean \"micro_batch_size\"")));
  expect_refusal({"--manifest", tiny_with("num_layers", "num_layer")}, 2,
                 AllOf(HasSubstr("section \"model\""), HasSubstr("mean \"num_layers\"")));
}

TEST_F(BadInput, WrongTypeAndRange) {
  expect_refusal({"--manifest", tiny_with("\"seq_length\": 32", "\"seq_length\": \"long\"")}, 2,
                 AllOf(HasSubstr("train.seq_length"), HasSubstr("\"long\""), HasSubstr("integer")));
  expect_refusal({"--manifest", tiny(), "--micro-batch-size", "0"}, 2, HasSubstr("--micro-batch-size"));
  expect_refusal({"--manifest", tiny(), "--lr-decay-style", "cosinus"}, 2, HasSubstr("cosine"));
}

TEST_F(BadInput, JsonThatIsNone) {
  expect_refusal({"--manifest", write("m.json", "{\"train\": {\n\"lr\" 3}}")}, 2,
                 AllOf(HasSubstr("m.json"), HasSubstr("m.json:2:6")));
  expect_refusal({"--manifest", "/no/such/manifest.json"}, 2, HasSubstr("/no/such/manifest.json"));
}

TEST_F(BadInput, FilesThatAreNoPlugins) {
  expect_refusal({"--manifest", tiny(), "--plugin", write("notes.txt.so", "hello")}, 6, HasSubstr("is not a plugin"));
  expect_refusal({"--manifest", tiny(), "--plugin", toy_plugin("other_minor")}, 6, HasSubstr("plugin ABI"));
  expect_refusal({"--manifest", tiny(), "--plugin", toy_plugin("next_major")}, 6, HasSubstr("slw_plugin_v1"));
  expect_refusal({"--manifest", tiny(), "--plugin", toy_plugin("no_entry")}, 6, HasSubstr("does not export"));
  expect_refusal({"--manifest", tiny(), "--plugin", toy_plugin("other_libtorch")}, 6, HasSubstr("LibTorch"));
  expect_refusal({"--manifest", tiny(), "--plugin", "/no/such.so"}, 6, HasSubstr("/no/such.so"));
  expect_refusal({"--manifest", tiny(), "--model", "gtp"}, 6, AllOf(HasSubstr("gtp"), HasSubstr("\"gpt\"")));
}

TEST_F(BadInput, PinsThatDoNotHold) {
  const auto pinned = [&](const std::string& pin) {
    return tiny_with("{\n", "{\n  \"plugins\": [{\"path\": \"" + built_plugin("gpt") + "\", " + pin + "}],\n");
  };
  expect_refusal({"--manifest", pinned("\"version\": \"99.0\"")}, 6, AllOf(HasSubstr("version"), HasSubstr("99.0")));
  expect_refusal({"--manifest", pinned("\"sha256\": \"" + std::string(64, 'a') + "\"")}, 6, HasSubstr("pins aaaa"));
}

// A toy that only --plugin-path leads to: help searches there as train does.
TEST_F(BadInput, HelpSearchesThePluginPath) {
  const std::string toys = std::filesystem::path(toy_plugin("good")).parent_path().string();
  const std::string manifest = tiny_with(R"("mock", "vocab_size": 250)", "\"golden_tokens\"");
  std::vector<std::string> command{built_program("slipway"), "help", "--manifest", manifest};
  EXPECT_EQ(run_program(command).exit_code, 6);
  command.insert(command.end(), {"--plugin-path", toys});
  const ProgramResult found = run_program(command);
  EXPECT_EQ(found.exit_code, 0) << found.out;
  EXPECT_THAT(found.out, HasSubstr("--case-seed"));
}

TEST_F(BadInput, TextThatCannotBeTrainedOn) {
  expect_refusal({"--manifest", text_manifest("missing.txt"), "--vocab-size", "256"}, 5, HasSubstr("missing.txt"));
  write("empty.txt", "");
  expect_refusal({"--manifest", text_manifest("empty.txt"), "--model.vocab_size", "256"}, 5, HasSubstr("empty"));
  write("short.txt", "too short");
  expect_refusal({"--manifest", text_manifest("short.txt"), "--model.vocab_size", "256"}, 5,
                 AllOf(HasSubstr("33"), HasSubstr("seq")));
}

TEST_F(BadInput, MoreSamplesThanTheDataHas) {
  write("some.txt", std::string(2000, 'x'));
  expect_refusal({"--manifest", text_manifest("some.txt"), "--model.vocab_size", "256", "--train-iters", "100"}, 5,
                 AllOf(HasSubstr("800"), HasSubstr("epochs")));
}

TEST_F(BadInput, VocabularyTooSmallForTheData) {
  expect_refusal({"--manifest", tiny(), "--model.vocab_size", "200"}, 2,
                 AllOf(HasSubstr("model.vocab_size is 200"), HasSubstr("249")));
}

TEST_F(BadInput, BatchesThatDoNotDivide) {
  expect_refusal({"--manifest", tiny(), "--global-batch-size", "7", "--micro-batch-size", "2"}, 2,
                 AllOf(HasSubstr("7"), HasSubstr("6 or 8")));
}

TEST_F(BadInput, LayoutsThatNobodyCanRun) {
  const auto refuses = [&](const std::vector<std::string>& options, const std::string& ranks, const auto& says) {
    std::vector<std::string> arguments{"--manifest", tiny(), "--nproc-per-node", ranks};
    arguments.insert(arguments.end(), options.begin(), options.end());
    expect_refusal(arguments, 2, says);
  };
  refuses({"--context-parallel-size", "2"}, "2", HasSubstr("context_parallel_size is 2"));
  refuses({"--tensor-model-parallel-size", "2", "--num-query-groups", "1"}, "2",
          AllOf(HasSubstr("tensor_model_parallel_size 2 is more than num_query_groups 1"), HasSubstr("nearest")));
  refuses({"--pipeline-model-parallel-size", "3"}, "3", AllOf(HasSubstr("num_layers = 8"), HasSubstr("6 or 9")));
  refuses({"--pipeline-model-parallel-size", "2", "--virtual-pipeline-model-parallel-size", "2", "--global-batch-size",
           "3"},
          "2", AllOf(HasSubstr("3 microbatches"), HasSubstr("nearest: 2 or 4")));
  refuses({"--virtual-pipeline-model-parallel-size", "2"}, "1", HasSubstr("interleaved over pipeline ranks"));
  refuses({"--use-tp-pp-dp-mapping", "--order", "tp-dp-pp"}, "2", HasSubstr("give one of the two"));
  refuses({"--sequence-parallel"}, "2", HasSubstr("tensor_model_parallel_size is 1"));
  refuses({"--tensor-model-parallel-size", "2", "--sequence-parallel", "--seq-length", "31"}, "2",
          AllOf(HasSubstr("seq_length 31"), HasSubstr("30 or 32")));
}

TEST_F(BadInput, OutputFolderInUse) {
  std::filesystem::create_directory(folder_.path() / "run");
  write("run/something", "x");
  expect_refusal({"--manifest", tiny()}, 2, AllOf(HasSubstr("not empty"), HasSubstr("--resume")));
}

TEST_F(BadInput, OutputFolderBelowAFile) {
  write("run", "a file where the folder should be");
  expect_refusal({"--manifest", tiny()}, 2, HasSubstr("run"));
}

TEST_F(BadInput, OneMessageForAllRanks) {
  const ProgramResult result = run_program(
      {built_program("slipway"), "train", "--manifest", tiny(), "--nproc-per-node", "2", "--model.vocab_size", "200"});
  EXPECT_EQ(result.exit_code, 2) << result.out;
  const size_t first = result.out.find("model.vocab_size is 200");
  ASSERT_NE(first, std::string::npos) << result.out;
  EXPECT_EQ(result.out.find("model.vocab_size is 200", first + 1), std::string::npos) << result.out;
}

}  // namespace
}  // namespace slipway
