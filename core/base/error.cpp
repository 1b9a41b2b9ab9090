#include "core/base/error.h"

namespace slipway {

void check_failed(const char* expression, const char* file, int line) {
  throw std::logic_error(std::string("internal error, please report it: ") + expression + " does not hold at " + file +
                         ":" + std::to_string(line));
}

}  // namespace slipway
