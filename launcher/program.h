// The program `slipway`: chooses by the command, prints, and gives the exit code.
#pragma once

#include <string>
#include <vector>

#include "launcher/launch.h"

namespace slipway {

// `arguments` without the program's name. Prints what went wrong, in one message, to stderr. With RANK and WORLD_SIZE
// in the environment `train` does not return: this process becomes the worker.
int run_program(const std::vector<std::string>& arguments, const Worker& worker);

}  // namespace slipway
