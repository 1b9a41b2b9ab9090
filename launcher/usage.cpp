#include "launcher/usage.h"

#include "core/base/strings.h"

namespace slipway {

std::vector<std::string> command_names() {
  return {"train", "plan", "verify-parallelism", "generate", "plugin", "help", "version"};
}

std::string usage_text() {
  return version_text() +
         R"( - pretrains language models; models, data, optimizers and data parallelism are plugins

  slipway train --manifest FILE [--plugin FILE]... [--nproc-per-node N] [--any-option value]...
      Trains what the manifest describes, on N ranks of this machine (1). An option on the command line wins over
      the manifest. With RANK and WORLD_SIZE in the environment it is one rank of a run that is launched elsewhere.
  slipway plan --manifest FILE --world-size N [--json] [--any-option value]...
      What that run on N ranks will be, without running it: stages, memory, communication, bubble; or why not.
  slipway verify-parallelism --manifest FILE --layouts tp2,pp2,dp2distopt [--steps 10] [--json] [--output-dir DIR]
      Trains some steps on one rank and in each layout, and compares loss, gradient norm and weights. A layout joins
      tpN ppN vppN cpN epN etpN dpN mbsN distopt fsdp sp. Exit code 1 when the numbers differ.
  slipway generate --checkpoint RUN --prompt TEXT [--temperature T] [--top-k K] [--top-p P] [--num-samples N]
      Text from a trained model; `slipway help generate` has all options.
  slipway plugin list
      The plugins that can be found, and what they provide.
  slipway plugin info PATH
      What one plugin provides, with its options.
  slipway help [SECTION] [--manifest FILE]
      Every option of the core, and of the providers that the manifest chooses, with default and meaning.
  slipway help build
      What this build has: compiler, LibTorch, CUDA and NCCL, and why not.
  slipway version

Ctrl-C asks the ranks to stop; the third time it kills them. Exit codes: 0 done, 1 verification failed, 2 command line,
manifest or plan refused, 3 a rank died or a collective timed out, 4 checkpoint, 5 data, 6 plugin, 20 stopped by a
signal after saving.
)";
}

std::string version_text() { return std::string("slipway ") + SLIPWAY_VERSION; }

std::string unknown_command_text(const std::string& command) {
  return "there is no command " + in_quotes(command) + suggestion(command, command_names()) +
         " (`slipway help` says more)";
}

}  // namespace slipway
