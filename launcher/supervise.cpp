#include "launcher/supervise.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "launcher/lines.h"

namespace slipway {
namespace {

using Clock = std::chrono::steady_clock;

// Signals closer together are one request: a terminal and a tool often both send it.
constexpr std::chrono::milliseconds kSameRequest{1000};
constexpr int kRequestsThatKill = 3;

struct Child {
  pid_t pid;
  bool has_own_group;
  bool is_running = true;
  std::set<int> sent_signals = {};  // by us
  RankEnd end;
  std::unique_ptr<LineReader> report, output, errors;
};

// On a terminal rank 0 may have a live line, which gives way and comes back with its next step.
std::unique_ptr<LineReader> prefixed(Descriptor source, int target, const std::string& name) {
  if (!source.is_open()) return nullptr;
  const std::string mark = (::isatty(target) == 1 ? "\r\x1b[K[" : "[") + name + "] ";
  return std::make_unique<LineReader>(
      std::move(source), [target, mark](const std::string& line) { write_text(target, mark + line + "\n"); });
}

class Supervisor {
 public:
  Supervisor(std::vector<NamedProcess> processes, SignalSource& signals, SuperviseTiming timing)
      : signals_(signals), timing_(timing) {
    for (NamedProcess& named : processes) add(std::move(named));
  }

  std::vector<RankEnd> run() {
    reap();
    while (any_running()) {
      wait_for_something();
      pump();
      take_signals();
      reap();
      keep_deadlines();
    }
    std::vector<RankEnd> ends;
    for (auto& child : children_) {
      for (auto* reader : {&child->report, &child->output, &child->errors}) {
        if (*reader) (*reader)->finish();
      }
      ends.push_back(std::move(child->end));
    }
    return ends;
  }

 private:
  void add(NamedProcess named) {
    auto child = std::make_unique<Child>();
    Child* self = child.get();
    child->pid = named.process.pid;
    child->has_own_group = named.process.has_own_group;
    const auto reader = [&](Descriptor source, int target) {
      if (!named.lines || !source.is_open()) return prefixed(std::move(source), target, named.name);
      return std::make_unique<LineReader>(std::move(source), named.lines);
    };
    child->output = reader(std::move(named.process.output), STDOUT_FILENO);
    child->errors = reader(std::move(named.process.errors), STDERR_FILENO);
    child->report =
        std::make_unique<LineReader>(std::move(named.process.report), [this, self](const std::string& line) {
          if (take_report_line(line, self->end)) note_failure(*self);
        });
    child->end.name = std::move(named.name);
    children_.push_back(std::move(child));
  }

  bool any_running() const {
    return std::any_of(children_.begin(), children_.end(), [](const auto& child) { return child->is_running; });
  }

  void wait_for_something() {
    std::vector<pollfd> sources = {{signals_.fd(), POLLIN, 0}};
    for (const auto& child : children_) {
      for (const auto* reader : {&child->report, &child->output, &child->errors}) {
        if (*reader && (*reader)->fd() >= 0) sources.push_back({(*reader)->fd(), POLLIN, 0});
      }
    }
    int timeout_ms = -1;
    if (deadline_) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline_ - Clock::now());
      timeout_ms = static_cast<int>(std::max<std::chrono::milliseconds::rep>(0, left.count()));
    }
    ::poll(sources.data(), sources.size(), timeout_ms);
  }

  void pump() {
    for (auto& child : children_) {
      for (auto* reader : {&child->report, &child->output, &child->errors}) {
        if (*reader) (*reader)->pump();
      }
    }
  }

  void take_signals() {
    while (const auto arrived = signals_.next()) {
      if (arrived->number == SIGCHLD) continue;
      const auto now = Clock::now();
      const bool is_same_request = latest_request_ && now - *latest_request_ < kSameRequest;
      if (is_same_request) continue;
      latest_request_ = now;
      if (++num_requests_ >= kRequestsThatKill) {
        send_to_all(SIGKILL);
        continue;
      }
      for (auto& child : children_) {
        const bool has_it_already = arrived->from_terminal && !child->has_own_group;
        if (has_it_already)
          child->sent_signals.insert(arrived->number);
        else
          send(*child, arrived->number);
      }
    }
  }

  void reap() {
    for (auto& child : children_) {
      int status = 0;
      if (!child->is_running || ::waitpid(child->pid, &status, WNOHANG) != child->pid) continue;
      child->is_running = false;
      if (WIFSIGNALED(status))
        child->end.signal = WTERMSIG(status);
      else
        child->end.exit_code = WEXITSTATUS(status);
      child->end.killed_by_us = child->end.signal != 0 && child->sent_signals.contains(child->end.signal);
      child->report->finish();
      if (!is_orderly(child->end) && !child->end.killed_by_us) note_failure(*child);
    }
  }

  void note_failure(Child& child) {
    if (child.end.order > 0) return;
    child.end.order = ++num_failures_;
    if (num_failures_ == 1 && !deadline_) deadline_ = Clock::now() + timing_.settle;
  }

  void keep_deadlines() {
    if (!deadline_ || Clock::now() < *deadline_) return;
    if (!is_terminating_) {
      is_terminating_ = true;
      deadline_ = Clock::now() + timing_.grace;
      send_to_all(SIGTERM);
      return;
    }
    deadline_.reset();
    send_to_all(SIGKILL);
  }

  void send_to_all(int number) {
    for (auto& child : children_) send(*child, number);
  }

  void send(Child& child, int number) {
    if (!child.is_running) return;
    child.sent_signals.insert(number);
    ::kill(child.pid, number);
    // What the process itself has started must not outlive it either.
    if (number == SIGKILL && child.has_own_group) ::kill(-child.pid, number);
  }

  SignalSource& signals_;
  SuperviseTiming timing_;
  std::vector<std::unique_ptr<Child>> children_;
  std::optional<Clock::time_point> deadline_;
  std::optional<Clock::time_point> latest_request_;
  bool is_terminating_ = false;
  int num_failures_ = 0;
  int num_requests_ = 0;
};

}  // namespace

std::vector<RankEnd> supervise(std::vector<NamedProcess> processes, SignalSource& signals, SuperviseTiming timing) {
  return Supervisor(std::move(processes), signals, timing).run();
}

}  // namespace slipway
