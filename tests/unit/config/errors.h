// What an action complains of.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "core/base/error.h"

namespace slipway {

template <class Expected = ConfigError>
std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Expected& error) {
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

}  // namespace slipway
