// `slipway generate`: text from a trained model.
#pragma once

#include "core/config/section.h"

namespace slipway {

// Its options, for help.
SectionSpec generate_section();

}  // namespace slipway
