#include "core/metrics/metrics_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <random>

#include "core/base/error.h"
#include "core/base/file.h"
#include "tests/support/long.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

using nlohmann::ordered_json;
using testing::HasSubstr;

class MetricsFileTest : public testing::Test {
 protected:
  std::string text() const { return read_file(path_, ExitCode::kUsage); }
  void put(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }

  std::string message_of_opening(const std::string& path) const {
    try {
      MetricsFile file(path, {10});
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }

  const TempFolder folder_;
  const std::string path_ = (folder_.path() / "metrics.jsonl").string();
};

TEST_F(MetricsFileTest, EveryLineIsThereBeforeTheNextStep) {
  MetricsFile file(path_, {0});
  file.append({{"step", 1}, {"loss", 0.5}, {"skipped", false}});
  EXPECT_EQ(text(), "{\"step\":1,\"loss\":0.5,\"skipped\":false}\n");
  file.append({{"step", 2}});
  EXPECT_THAT(text(), HasSubstr("{\"step\":2}\n"));
}

TEST_F(MetricsFileTest, ResumingCutsToTheRestoredStep) {
  put("{\"step\":1}\n{\"step\":2}\n{\"step\":2,\"valid_loss\":1.5}\n{\"step\":3}\n{\"step\":4}\n");
  MetricsFile file(path_, {2});
  EXPECT_EQ(text(), "{\"step\":1}\n{\"step\":2}\n{\"step\":2,\"valid_loss\":1.5}\n");
  file.append({{"step", 3}});
  EXPECT_EQ(text(), "{\"step\":1}\n{\"step\":2}\n{\"step\":2,\"valid_loss\":1.5}\n{\"step\":3}\n");
}

TEST_F(MetricsFileTest, AnEvaluationThatComesAgainIsDropped) {
  put("{\"step\":1,\"valid_loss\":2.5}\n{\"step\":2}\n{\"step\":2,\"valid_loss\":1.5}\n{\"step\":3}\n");
  const MetricsFile file(path_, {2, true});
  EXPECT_EQ(text(), "{\"step\":1,\"valid_loss\":2.5}\n{\"step\":2}\n");
}

TEST_F(MetricsFileTest, ResumingDropsWhatWasEvaluatedAtTheEnd) {
  put("{\"step\":2}\n{\"step\":2,\"valid_loss\":1.5}\n{\"step\":2,\"final\":true,\"valid_loss\":1.25}\n");
  MetricsFile file(path_, {2});
  file.append({{"step", 3}});
  file.sync();
  EXPECT_EQ(text(), "{\"step\":2}\n{\"step\":2,\"valid_loss\":1.5}\n{\"step\":3}\n");
}

TEST_F(MetricsFileTest, ALastLineCutOffAtAnyPlaceIsDropped) {
  const std::string last = "{\"step\":3,\"loss\":1.25}";
  for (std::size_t size = 0; size <= last.size(); ++size) {
    put("{\"step\":1}\n{\"step\":2}\n" + last.substr(0, size));
    MetricsFile file(path_, {2});
    EXPECT_EQ(text(), "{\"step\":1}\n{\"step\":2}\n") << size;
  }
}

TEST_F(MetricsFileTest, GarbageElsewhereIsRefusedWithFileAndLineAndKept) {
  for (const std::string garbage :
       {"x", "", "[1]", "{\"loss\":1}", "{\"step\":\"2\"}", "{\"step\":1.5}", "{\"step\":"}) {
    const std::string bad = "{\"step\":1}\n" + garbage + "\n{\"step\":3}\n";
    put(bad);
    const std::string message = message_of_opening(path_);
    EXPECT_THAT(message, HasSubstr(path_ + " line 2")) << garbage;
    EXPECT_EQ(text(), bad);
  }
}

TEST_F(MetricsFileTest, APathBelowAFileIsNamed) {
  put("{\"step\":1}\n");
  EXPECT_THAT(message_of_opening(path_ + "/metrics.jsonl"), HasSubstr(path_ + "/metrics.jsonl"));
}

// A limit on the size of files stands for a full disk: the write that would pass it fails.
TEST_F(MetricsFileTest, ADiskThatIsFullIsAnError) {
  MetricsFile file(path_, {0});
  file.append({{"step", 1}});
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{16, before.rlim_max};
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_THROW(file.append({{"step", 2}, {"loss", 0.5}}), Error);
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
}

TEST(JsonNumber, EveryDoubleReadsBackAsItself) {
  std::mt19937_64 random(6);
  for (int round = 0; round < rounds(20000, 1000000); ++round) {
    const std::uint64_t bits = random();
    double value = 0.0;
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isfinite(value)) continue;
    EXPECT_EQ(ordered_json::parse(json_number(value).dump()).get<double>(), value);
  }
  EXPECT_EQ(json_number(std::numeric_limits<double>::denorm_min()).dump(), "5e-324");
}

TEST(JsonNumber, WhatJsonCannotSayIsAText) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(json_number(kInfinity), "inf");
  EXPECT_EQ(json_number(-kInfinity), "-inf");
  EXPECT_EQ(json_number(std::nan("")), "nan");
}

}  // namespace
}  // namespace slipway
