// Checkpoints hold no layout: a run that was saved in one and goes on in another has the numbers of a straight run on
// one rank; one that goes on in the same layout has the straight run's bits.
#include <cstring>

#include "tests/dist/layouts.h"
#include "tests/support/run_folder.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

struct Place {
  int world = 1;
  Options options;
};

const Place kOne{1, {}}, kTp2{2, sizes(2, 1)}, kPp2{2, sizes(1, 2)}, kTp2Pp2{4, sizes(2, 2)},
    kPp2Vpp2{2, sizes(1, 2, 2)}, kDp2DistOpt{2, kDistOpt}, kPp2Dp2DistOpt{4, sizes(1, 2) + kDistOpt},
    kTp2Sp{2, sizes(2, 1) + kSequenceParallel};

// Tied, so that one tensor has two places to go to.
nlohmann::json eight_steps() {
  nlohmann::json manifest = four_layers();
  manifest["train"]["train_iters"] = 8;
  manifest["model"]["share_embeddings_and_output_weights"] = true;
  return manifest;
}

class ResumeLayout : public testing::Test {
 protected:
  std::filesystem::path folder(const std::string& name) const { return folder_.path() / name; }
  void run(const std::string& name, const Place& place, const Options& more = {}) const {
    pretrain_on_threads(eight_steps(), place.world,
                        place.options + more + Options{"--output-dir", folder(name).string()});
  }
  // Half of it in each place.
  void run_in_two(const std::string& name, const Place& first, const Place& second) const {
    run(name, first, {"--exit-interval", "4"});
    ASSERT_EQ(metrics_of(folder(name)).size(), 4u);
    run(name, second, {"--resume"});
  }

 private:
  TempFolder folder_;
};

std::vector<float> floats_of(const std::string& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// Parameters and optimizer state, but for the bias without a true gradient.
Weights final_tensors(const std::filesystem::path& run) {
  Weights tensors;
  for (const auto& [name, bytes] : tensors_of(run, 8)) tensors[name] = floats_of(bytes);
  ignore_keyless_bias(tensors);
  return tensors;
}

void expect_same_lines(const std::filesystem::path& a, const std::filesystem::path& b) {
  const auto one = metrics_of(a), two = metrics_of(b);
  ASSERT_EQ(one.size(), 8u);
  ASSERT_EQ(two.size(), 8u);
  for (size_t i = 0; i < one.size(); ++i) {
    for (const char* key : {"loss", "grad_norm"}) {
      const double expected = one[i].at(key);
      EXPECT_NEAR(expected, two[i].at(key).get<double>(), 1e-5 * expected) << key << " of step " << i + 1;
    }
    for (const char* key : {"lr", "consumed_samples"}) EXPECT_EQ(one[i].at(key), two[i].at(key)) << "step " << i + 1;
  }
}

TEST_F(ResumeLayout, InAnotherLayoutGivesTheNumbersOfOneRank) {
  run("straight", kOne);
  const std::vector<std::pair<Place, Place>> moves{
      {kTp2, kPp2}, {kPp2, kDp2DistOpt}, {kDp2DistOpt, kTp2Sp}, {kPp2Vpp2, kOne}, {kOne, kPp2Dp2DistOpt}};
  for (size_t i = 0; i < moves.size(); ++i) {
    SCOPED_TRACE("move " + std::to_string(i));
    const std::string name = "moved" + std::to_string(i);
    run_in_two(name, moves[i].first, moves[i].second);
    expect_same_lines(folder("straight"), folder(name));
    EXPECT_LE(largest_difference(final_tensors(folder("straight")), final_tensors(folder(name))), 1e-5);
  }
}

TEST_F(ResumeLayout, InTheSameLayoutGivesTheSameBits) {
  const std::map<std::string, Place> places{
      {"tp2pp2", kTp2Pp2}, {"dp2distopt", kDp2DistOpt}, {"pp2vpp2", kPp2Vpp2}, {"pp2dp2distopt", kPp2Dp2DistOpt}};
  for (const auto& [name, place] : places) {
    SCOPED_TRACE(name);
    run(name + "straight", place);
    run_in_two(name, place, place);
    EXPECT_EQ(metrics_of(folder(name + "straight")), metrics_of(folder(name)));
    EXPECT_EQ(tensors_of(folder(name + "straight"), 8), tensors_of(folder(name), 8));
  }
}

}  // namespace
}  // namespace slipway
