#include "core/base/crash_report.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

namespace slipway {
namespace {

constexpr std::array kFatal = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

constinit thread_local const CallMark* current = nullptr;

// Process-wide on purpose: what a signal does is, too.
struct Crashes {
  int fd = -1;  // of the launcher; -1: stderr
  const CallMark* const* main_thread = nullptr;
  std::array<struct sigaction, kFatal.size()> before{};
  std::array<std::byte, 1 << 16> stack{};  // a stack that overflowed is no place to run on
};
constinit Crashes crashes;

// A line of text put together where nothing may be allocated.
class Line {
 public:
  void add(const char* text) {
    for (; *text != '\0' && size_ < text_.size(); ++text) text_[size_++] = *text;
  }
  // What would have to be escaped in JSON, or is no ASCII, becomes '?'.
  void add_plain(const char* text) {
    for (; *text != '\0' && size_ < text_.size() - kRoom; ++text) {
      const bool is_plain = *text >= ' ' && *text <= '~' && *text != '"' && *text != '\\';
      text_[size_++] = is_plain ? *text : '?';
    }
  }
  void write_to(int fd) const {
    for (std::size_t done = 0; done < size_;) {
      const ssize_t written = ::write(fd, text_.data() + done, size_ - done);
      if (written <= 0) return;
      done += static_cast<std::size_t>(written);
    }
  }

 private:
  static constexpr std::size_t kRoom = 64;  // for the fixed end of a line
  std::array<char, 2048> text_{};
  std::size_t size_ = 0;
};

void tell(const CallMark& mark, const char* where) {
  Line line;
  line.add(crashes.fd >= 0 ? "{\"crumb\":\"" : "slipway: crashed during ");
  line.add_plain(mark.function);
  line.add_plain(" of ");
  line.add_plain(mark.component);
  if (*mark.file != '\0') {
    line.add_plain(" (");
    line.add_plain(mark.file);
    line.add_plain(")");
  }
  line.add(where);
  line.add(crashes.fd >= 0 ? "\"}\n" : "\n");
  line.write_to(crashes.fd >= 0 ? crashes.fd : STDERR_FILENO);
}

void on_fatal_signal(int number, siginfo_t* info, void*) {
  const CallMark* const main = number == SIGABRT ? nullptr : *crashes.main_thread;
  if (current != nullptr) {
    tell(*current, "");
  } else if (main != nullptr) {
    tell(*main, ", on another thread");
  }
  for (std::size_t i = 0; i < kFatal.size(); ++i) {
    if (kFatal[i] == number) ::sigaction(number, &crashes.before[i], nullptr);
  }
  // A fault of the processor comes again on return; a signal that was sent has to be sent again.
  if (info->si_code <= 0) ::raise(number);
}

}  // namespace

CallMark::CallMark(const char* function_name, const char* component_name, const char* file_name) noexcept
    : function(function_name), component(component_name), file(file_name), outer_(current) {
  current = this;
}

CallMark::~CallMark() { current = outer_; }

void give_crash_stack() {
  class Stack {
   public:
    Stack() {
      stack_t stack{};
      stack.ss_sp = memory_.data();
      stack.ss_size = memory_.size();
      ::sigaltstack(&stack, nullptr);
    }
    ~Stack() {
      stack_t none{};
      none.ss_flags = SS_DISABLE;
      ::sigaltstack(&none, nullptr);
    }
    Stack(const Stack&) = delete;
    Stack& operator=(const Stack&) = delete;

   private:
    std::vector<std::byte> memory_ = std::vector<std::byte>(1 << 16);
  };
  thread_local const Stack stack;
}

void report_crashes(const Reporter& reporter) {
  crashes.fd = reporter.fd();
  crashes.main_thread = &current;
  stack_t stack{};
  stack.ss_sp = crashes.stack.data();
  stack.ss_size = crashes.stack.size();
  ::sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_fatal_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kFatal.size(); ++i) ::sigaction(kFatal[i], &action, &crashes.before[i]);
}

}  // namespace slipway
