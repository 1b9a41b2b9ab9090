#include "launcher/verify/request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "core/base/error.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

using testing::Contains;
using testing::Not;
using Words = std::vector<std::string>;

class VerifyRequests : public testing::Test {
 protected:
  std::string manifest(const std::string& train) {
    const std::string path = (folder_.path() / "run.json").string();
    std::ofstream(path) << "{// comment\n\"train\": {" << train << "}}";
    return path;
  }
  VerifyRequest parse(const std::string& train, const std::string& layouts, const Words& more = {}) {
    Words words{"--manifest", manifest(train), "--layouts", layouts};
    words.insert(words.end(), more.begin(), more.end());
    return parse_verify_request(words);
  }

 private:
  TempFolder folder_;
};

// What follows the flag; "" when it is not there, "twice" when it is there more than once.
std::string value_of(const Words& words, const std::string& flag) {
  const auto found = std::find(words.begin(), words.end(), flag);
  if (found == words.end() || found + 1 == words.end()) return "";
  return std::find(found + 1, words.end(), flag) == words.end() ? *(found + 1) : "twice";
}

TEST_F(VerifyRequests, KeepWhatIsForTheRuns) {
  const VerifyRequest request =
      parse("", "dp2,tp2", {"--steps=3", "--json", "--lr", "0.1", "--no-save-x", "--data.paths=a,b"});
  EXPECT_EQ(request.layouts.size(), 2u);
  EXPECT_EQ(request.steps, 3);
  EXPECT_TRUE(request.as_json);
  const Words words = run_arguments(request, request.layouts[0], "/out");
  EXPECT_EQ(value_of(words, "--lr"), "0.1");
  EXPECT_EQ(value_of(words, "--exit-interval"), "3");
  EXPECT_EQ(value_of(words, "--output-dir"), "/out");
  EXPECT_EQ(value_of(words, "--cpu-threads"), "1");
  EXPECT_THAT(value_of(words, "--manifest"), testing::EndsWith("run.json"));
  EXPECT_THAT(words, testing::IsSupersetOf({"--no-save-x", "--data.paths=a,b", "--save-initial"}));
  for (const char* own : {"--steps=3", "--json", "--layouts"}) EXPECT_THAT(words, Not(Contains(own)));
}

TEST_F(VerifyRequests, ThreadsOfTheUserStay) {
  const VerifyRequest request = parse("", "dp2", {"--cpu-threads", "4"});
  EXPECT_EQ(value_of(run_arguments(request, Layout{}, "/out"), "--cpu-threads"), "4");
}

TEST_F(VerifyRequests, OneGlobalBatchForAll) {
  EXPECT_EQ(parse("\"global_batch_size\": 12, \"micro_batch_size\": 2", "dp8").global_batch, 12);
  EXPECT_EQ(parse("\"global_batch_size\": 12", "dp8", {"--global-batch-size", "16"}).global_batch, 16);
  EXPECT_EQ(parse("\"micro_batch_size\": 2", "tp2,dp4,dp2mbs3").global_batch, 8);
  EXPECT_EQ(parse("\"micro_batch_size\": 4", "dp2,dp2mbs3", {"--train.micro-batch-size=1"}).global_batch, 6);
  EXPECT_EQ(parse("", "tp2pp2").global_batch, 1);
  const VerifyRequest request = parse("", "dp4", {"--train.global-batch-size", "16"});
  const Words words = run_arguments(request, Layout{}, "/out");
  EXPECT_EQ(value_of(words, "--global-batch-size"), "16");
  EXPECT_THAT(words, Not(Contains("--train.global-batch-size")));
}

TEST_F(VerifyRequests, ALayoutWinsOverOtherFlags) {
  const VerifyRequest request = parse("", "dp2,mbs4distopt", {"--micro-batch-size", "2", "--data-parallel", "ddp"});
  const Words plain = run_arguments(request, request.layouts[0], "/out");
  EXPECT_EQ(value_of(plain, "--micro-batch-size"), "2");
  EXPECT_EQ(value_of(plain, "--data-parallel"), "ddp");
  const Words other = run_arguments(request, request.layouts[1], "/out");
  EXPECT_EQ(value_of(other, "--micro-batch-size"), "4");
  EXPECT_EQ(value_of(other, "--data-parallel.use"), "distributed_optimizer");
  EXPECT_THAT(other, Not(Contains("--data-parallel")));
}

TEST_F(VerifyRequests, RefuseWhatCannotBe) {
  for (const Words& more : {Words{"--steps", "0"},
                            {"--steps", "x"},
                            {"--steps"},
                            {"--nproc-per-node", "2"},
                            {"--resume"},
                            {"--exit-interval", "2"},
                            {"--json", "maybe"},
                            {"--layouts", "tp4"}}) {
    EXPECT_THROW(parse("", "dp2", more), ConfigError) << more[0];
  }
  EXPECT_THROW(parse_verify_request({"--layouts", "dp2"}), ConfigError);
  EXPECT_THROW(parse_verify_request({"--manifest", "/nowhere/run.json", "--layouts", "dp2"}), Error);
  EXPECT_THROW(parse_verify_request({"--manifest", manifest("")}), ConfigError);
}

}  // namespace
}  // namespace slipway
