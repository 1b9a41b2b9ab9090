// The commands of `slipway` and the text that introduces them.
#pragma once

#include <string>
#include <vector>

namespace slipway {

std::vector<std::string> command_names();

std::string usage_text();

// "slipway 0.1.0"
std::string version_text();

// What to say of a command that does not exist, with the nearest one that does.
std::string unknown_command_text(const std::string& command);

}  // namespace slipway
