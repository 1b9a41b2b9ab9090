#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/sdk.hpp>

#include "tests/plugin/loaded_plugin.h"
#include "tests/plugin/toy_host.h"

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class Body>
slw_status status_of(Body&& body, std::string* text = nullptr) {
  ErrorText error;
  const slw_status status = slw::guard(error.get(), body);
  if (text != nullptr) *text = error.text();
  return status;
}

TEST(SdkGuard, TurnsWhateverIsThrownIntoAStatus) {
  std::string text;
  EXPECT_EQ(status_of([] {}), SLW_OK);
  EXPECT_EQ(status_of([] { throw slw::Error(SLW_IO, "no disk"); }, &text), SLW_IO);
  EXPECT_EQ(text, "no disk");
  EXPECT_EQ(status_of([] { throw std::bad_alloc(); }), SLW_OUT_OF_MEMORY);
  EXPECT_EQ(status_of([] { throw std::runtime_error("odd"); }, &text), SLW_INTERNAL);
  EXPECT_EQ(text, "odd");
  EXPECT_EQ(status_of([] { throw 7; }), SLW_INTERNAL);
}

TEST(SdkGuard, AnErrorNeverLooksLikeSuccess) {
  EXPECT_EQ(status_of([] { throw slw::Error(SLW_OK, "forgot the code"); }), SLW_INTERNAL);
}

TEST(SdkPut, FillsSmallBuffersWithoutCuttingCharacters) {
  char text[6] = "zzzzz";
  slw_error error{SLW_SIZE_TO(slw_error, needed), SLW_OK, text, 5, 0};
  EXPECT_EQ(slw::put(&error, SLW_IO, "abc\xc3\xa9x"), SLW_IO);
  EXPECT_STREQ(text, "abc");
  EXPECT_EQ(text[4], 'z') << "the byte beyond the character that did not fit stays";
  EXPECT_EQ(error.needed, 7u);
  EXPECT_EQ(error.code, SLW_IO);
}

TEST(SdkPut, LivesWithNullAndWithNoRoom) {
  EXPECT_EQ(slw::put(nullptr, SLW_IO, "x"), SLW_IO);
  slw_error error{SLW_SIZE_TO(slw_error, needed), SLW_OK, nullptr, 100, 0};
  slw::put(&error, SLW_IO, "xy");
  EXPECT_EQ(error.needed, 3u);
  char text[1] = {'z'};
  error.message = text;
  error.capacity = 0;
  slw::put(&error, SLW_IO, "xy");
  EXPECT_EQ(text[0], 'z');
}

TEST(SdkPut, DoesNotWriteBeyondAShorterStruct) {
  slw_error error{SLW_SIZE_TO(slw_error, code), SLW_OK, nullptr, 0, 77};
  slw::put(&error, SLW_IO, "xy");
  EXPECT_EQ(error.code, SLW_IO);
  EXPECT_EQ(error.needed, 77u);
}

TEST(SdkCall, ThrowsWhatTheOtherSideReports) {
  try {
    slw::call([](slw_error* e) { return slw::put(e, SLW_COMM, "peer gone"); });
    FAIL();
  } catch (const slw::Error& e) {
    EXPECT_EQ(e.code(), SLW_COMM);
    EXPECT_STREQ(e.what(), "peer gone");
  }
}

TEST(SdkChecks, RefuseUnknownMustUnderstandBitsAndPassHints) {
  EXPECT_NO_THROW(slw::check_flags(0x00010003u, 0x3u, "x"));
  EXPECT_THROW(slw::check_flags(0x4u, 0x3u, "x"), slw::Error);
}

TEST(SdkChecks, RefuseShortStructsAndNonZeroTails) {
  struct Longer {
    slw_build_args known;
    uint64_t appended;
  } longer{slw::make<slw_build_args>(), 0};
  longer.known.struct_size = sizeof longer;
  EXPECT_NO_THROW(slw::checked(&longer.known));
  longer.appended = uint64_t{1} << 56;
  EXPECT_THROW(slw::checked(&longer.known), slw::Error);
  longer.known.struct_size = slw::Known<slw_build_args>::kSize - 1;
  EXPECT_THROW(slw::checked(&longer.known), slw::Error);
  EXPECT_THROW(slw::check_struct(static_cast<const slw_build_args*>(nullptr)), slw::Error);
}

TEST(SdkChecks, CopyOutStopsWhereTheCallerEnds) {
  slw_dataset_info answer = slw::make<slw_dataset_info>();
  answer.size = 5;
  answer.vocab_size = 7;
  slw_dataset_info out{};
  out.struct_size = SLW_SIZE_TO(slw_dataset_info, size);
  slw::copy_out(answer, &out);
  EXPECT_EQ(out.struct_size, SLW_SIZE_TO(slw_dataset_info, size));
  EXPECT_EQ(out.size, 5);
  EXPECT_EQ(out.vocab_size, 0);
}

TEST(SdkTensor, AccessIsTyped) {
  float values[6] = {0, 1, 2, 3, 4, 5};
  slw::View view(values, slw::f32, {2, 3});
  EXPECT_EQ(slw::numel(*view), 6);
  EXPECT_TRUE(slw::is_contiguous(*view));
  EXPECT_EQ(slw::data<float>(*view)[4], 4.0f);
  EXPECT_THROW(slw::data<int64_t>(*view), slw::Error);
  EXPECT_EQ(slw::describe(*view), "f32 [2, 3]");
  EXPECT_THROW(slw::check_tensor(*view, slw::f32, {3, 2}, "x"), slw::Error);
  view.get()->byte_offset = 4;
  EXPECT_EQ(slw::data<float>(*view)[0], 1.0f);
}

TEST(SdkTensor, Bfloat16RoundsToNearestEven) {
  EXPECT_EQ(slw::Bfloat16::from(1.0f).bits, 0x3F80);
  EXPECT_EQ(slw::Bfloat16::from(1.00390625f).bits, 0x3F80);  // halfway: down to even
  EXPECT_EQ(slw::Bfloat16::from(1.01171875f).bits, 0x3F82);  // halfway: up to even
  EXPECT_EQ(slw::Bfloat16::from(-3.5f).to_float(), -3.5f);
  const float nan = std::nanf("");
  EXPECT_TRUE(std::isnan(slw::Bfloat16::from(nan).to_float()));
}

constexpr const char* kModes[] = {"plain", "fancy", nullptr};
constexpr slw::Options kOptions{
    slw::int_option("count", "3", "How many.").min("1").max("9"),
    slw::string_option("mode", R"("plain")", "Which way.").choices(kModes),
    slw::json_option("paths", nullptr, "Files.").path(),
};

TEST(SdkOptions, AreConstantsWithPointersIntoThemselves) {
  static_assert(kOptions.size() == 3);
  const slw_option& count = *kOptions.data()[0];
  EXPECT_STREQ(count.name, "count");
  EXPECT_STREQ(count.min_json, "1");
  EXPECT_STREQ(count.max_json, "9");
  EXPECT_EQ(count.struct_size, SLW_SIZE_TO(slw_option, aliases));
  EXPECT_EQ(kOptions.data()[1]->choices, kModes);
  EXPECT_EQ(kOptions.data()[2]->flags, static_cast<uint32_t>(SLW_OPTION_PATH));
  EXPECT_EQ(kOptions.data()[2]->default_json, nullptr);
}

TEST(SdkOptions, DefaultsHaveToFitTheirType) {
  static_assert(slw::fits_type(SLW_OPT_STRING, "\"x\"") && !slw::fits_type(SLW_OPT_STRING, "x"));
  static_assert(slw::fits_type(SLW_OPT_INT, "-1") && !slw::fits_type(SLW_OPT_INT, "\"1\""));
  static_assert(slw::fits_type(SLW_OPT_BOOL, "true") && !slw::fits_type(SLW_OPT_BOOL, "1"));
  static_assert(slw::fits_type(SLW_OPT_INT, "null") && slw::fits_type(SLW_OPT_INT, nullptr));
}

TEST(SdkConfig, GivesTypedValues) {
  const slw::Config config(R"({"i":3,"d":1,"s":"x","b":true,"l":["p","q"],"n":[1,2],"none":null})");
  EXPECT_EQ(config.integer("i"), 3);
  EXPECT_EQ(config.number("d"), 1.0);
  EXPECT_EQ(config.string("s"), "x");
  EXPECT_TRUE(config.boolean("b"));
  EXPECT_THAT(config.strings("l"), ElementsAre("p", "q"));
  EXPECT_THAT(config.integers("n"), ElementsAre(1, 2));
  EXPECT_FALSE(config.has("none"));
  EXPECT_EQ(config.optional_integer("none"), std::nullopt);
  EXPECT_EQ(config.optional_integer("i"), 3);
}

TEST(SdkConfig, NamesTheOptionThatDoesNotFit) {
  const slw::Config config(R"({"i":3.5,"none":null})");
  std::string text;
  EXPECT_EQ(status_of([&] { config.integer("i"); }, &text), SLW_INVALID_ARGUMENT);
  EXPECT_EQ(text, "option 'i' is 3.5, wanted an integer");
  EXPECT_EQ(status_of([&] { config.integer("j"); }, &text), SLW_INVALID_ARGUMENT);
  EXPECT_EQ(text, "option 'j' is missing");
  EXPECT_EQ(status_of([&] { config.integer("none"); }), SLW_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([] { slw::Config broken("{"); }), SLW_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([] { slw::Config list("[]"); }), SLW_INVALID_ARGUMENT);
}

TEST(SdkHost, LogsAndKnowsWhenToStop) {
  ToyHost toy;
  const slw::Host host(toy.get());
  host.info("hello");
  EXPECT_THAT(toy.log_lines(), ElementsAre("hello"));
  EXPECT_NO_THROW(host.check_stop());
  toy.request_stop();
  EXPECT_EQ(status_of([&] { host.check_stop(); }), SLW_CANCELLED);
}

TEST(SdkHost, ParallelForCoversTheRangeWithAndWithoutThreads) {
  for (const int threads : {0, 1, 4}) {
    ToyHost toy(threads);
    const slw::Host host(toy.get());
    std::vector<int> seen(1000, 0);
    host.parallel_for(1000, 10, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
    });
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), 1000) << threads;
    host.parallel_for(0, 10, [&](int64_t, int64_t) { FAIL(); });
  }
}

TEST(SdkHost, ParallelForBringsAnExceptionHome) {
  ToyHost toy(4);
  const slw::Host host(toy.get());
  std::string text;
  const auto body = [&](int64_t, int64_t) { throw slw::Error(SLW_NUMERIC, "not a number"); };
  EXPECT_EQ(status_of([&] { host.parallel_for(100, 1, body); }, &text), SLW_NUMERIC);
  EXPECT_EQ(text, "not a number");
}

TEST(SdkHostMemory, ComesFromTheHostAndGoesBack) {
  ToyHost toy;
  const slw::Host host(toy.get());
  {
    const slw::HostMemory memory(host, 100);
    EXPECT_EQ(toy.live_allocations(), 1);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.get()) % 64, 0u);
  }
  EXPECT_EQ(toy.live_allocations(), 0);
  toy.exhaust_memory();
  std::string text;
  EXPECT_EQ(status_of([&] { slw::HostMemory memory(host, 100); }, &text), SLW_OUT_OF_MEMORY);
  EXPECT_THAT(text, HasSubstr("no memory left"));
}

TEST(SdkParam, BuildsTheDeclaration) {
  slw::Param param("w", {12, 4});
  param.padded({16, 4}).cut(0, "tp").cut(0, "ep", 2).block("q", 2).block("k", 1).block("v", 1).repeat(3);
  param.matrix().no_weight_decay().normal(0, 0.02).tie("t").former_name("old");
  const slw_param_decl& decl = param.decl();
  EXPECT_STREQ(decl.name, "w");
  EXPECT_EQ(decl.ndim, 2);
  EXPECT_EQ(decl.global_shape[0], 12);
  EXPECT_EQ(decl.padded_shape[0], 16);
  ASSERT_EQ(decl.num_cuts, 2u);
  EXPECT_STREQ(decl.cuts[1]->group, "ep");
  EXPECT_EQ(decl.cuts[1]->parts, 2);
  ASSERT_EQ(decl.num_blocks, 3u);
  EXPECT_STREQ(decl.blocks[2]->name, "v");
  EXPECT_EQ(decl.block_repeat, 3);
  EXPECT_EQ(decl.flags, static_cast<uint32_t>(SLW_PARAM_MATRIX | SLW_PARAM_NO_WEIGHT_DECAY));
  EXPECT_EQ(decl.init, SLW_INIT_NORMAL);
  EXPECT_EQ(decl.init_b, 0.02);
  EXPECT_STREQ(decl.tie, "t");
  EXPECT_EQ(decl.unit, nullptr);
  ASSERT_EQ(decl.num_former_names, 1u);
  EXPECT_STREQ(decl.former_names[0], "old");
}

}  // namespace
