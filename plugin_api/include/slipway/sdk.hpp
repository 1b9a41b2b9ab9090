// The C++ side of the plugin border: header-only C++17, without LibTorch. A plugin includes this one file, writes a
// class with plain member functions that may throw, and registers it:
//
//   constexpr slw::Options kOptions{slw::int_option("vocab_size", "250", "Number of token ids.").min("1")};
//   constexpr slw_component kMock = slw::dataset<Mock>({"mock", "Made-up samples."}, kOptions);
//   constexpr slw::About kAbout{"org.example.mock", "0.1.0", "Example"};
//   SLW_PLUGIN(kAbout, &kMock);
//
// config.hpp needs nlohmann-json (<nlohmann/json.hpp>) at compile time.
#pragma once

#include <slipway/philox.h>
#include <slipway/sdk/config.hpp>
#include <slipway/sdk/dataset.hpp>
#include <slipway/sdk/dp.hpp>
#include <slipway/sdk/error.hpp>
#include <slipway/sdk/host.hpp>
#include <slipway/sdk/language.hpp>
#include <slipway/sdk/model.hpp>
#include <slipway/sdk/optimizer.hpp>
#include <slipway/sdk/options.hpp>
#include <slipway/sdk/params.hpp>
#include <slipway/sdk/plugin.hpp>
#include <slipway/sdk/structs.hpp>
#include <slipway/sdk/tensor.hpp>
#include <slipway/sdk/tokenizer.hpp>
