// Stands in for slipway-worker in tests of the launcher: does what its arguments say. After the command, each argument
// is RANK:ACTION or all:ACTION; the actions of this process's rank are done in order.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "core/base/reporter.h"
#include "core/base/strings.h"

namespace {

using slipway::split;

void exit_after_saving(int) { ::_exit(20); }

[[noreturn]] void wait_for_ever() {
  for (;;) ::pause();
}

std::string variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? value : "(unset)";
}

[[noreturn]] void crash() {
  ::signal(SIGSEGV, SIG_DFL);
  ::raise(SIGSEGV);
  ::_exit(0);
}

void act(const std::vector<std::string>& words, slipway::Reporter& reporter) {
  const std::string& action = words[0];
  if (action == "print") std::cout << words[1] << "\n" << std::flush;
  if (action == "print-part") std::cout << words[1] << std::flush;
  if (action == "warn") std::cerr << words[1] << "\n" << std::flush;
  if (action == "show") std::cout << words[1] << "=" << variable(words[1]) << "\n" << std::flush;
  if (action == "crumb") reporter.crumb(words[1]);
  if (action == "report") reporter.error(static_cast<slipway::ExitCode>(std::stoi(words[1])), words[2], words[3]);
  if (action == "exit") std::exit(std::stoi(words[1]));
  if (action == "raise") ::raise(std::stoi(words[1]));
  if (action == "crash") crash();
  if (action == "ignore-term") ::signal(SIGTERM, SIG_IGN);
  if (action == "save-on-term") ::signal(SIGTERM, exit_after_saving);
  if (action == "save-on-int") ::signal(SIGINT, exit_after_saving);
  if (action == "wait") wait_for_ever();
}

}  // namespace

int main(int argc, char** argv) {
  slipway::Reporter reporter(slipway::Reporter::fd_from_environment());
  const char* rank = std::getenv("RANK");
  const std::string self = rank ? rank : "none";
  if (std::string(argv[1]) != "train") std::cout << "command " << argv[1] << "\n" << std::flush;
  for (int i = 2; i < argc; ++i) {
    std::vector<std::string> words = split(argv[i], ':');
    if (words.size() < 2 || (words[0] != self && words[0] != "all")) continue;
    act({words.begin() + 1, words.end()}, reporter);
  }
  return 0;
}
