#include "tests/support/ranks.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <exception>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/base/error.h"

namespace slipway {

int free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  const bool bound = bind(fd, reinterpret_cast<sockaddr*>(&address), length) == 0 &&
                     getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0;
  close(fd);
  if (!bound) throw std::runtime_error("no free port on loopback");
  return ntohs(address.sin_port);
}

namespace {

// A rank that lost its peers tells nothing of the cause: such failures come last.
void throw_first(const std::vector<std::exception_ptr>& failures) {
  std::exception_ptr lost;
  for (const std::exception_ptr& failure : failures) {
    if (!failure) continue;
    try {
      std::rethrow_exception(failure);
    } catch (const Error& error) {
      if (error.code() != ExitCode::kRankDied) throw;
      if (!lost) lost = failure;
    }
  }
  if (lost) std::rethrow_exception(lost);
}

}  // namespace

void run_ranks(int world_size, const std::function<void(const RankEnvironment&)>& body) {
  const int port = free_port();
  std::vector<std::exception_ptr> failures(static_cast<size_t>(world_size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < world_size; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        body({rank, world_size, rank, world_size, "127.0.0.1", port});
      } catch (...) {
        failures[static_cast<size_t>(rank)] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  throw_first(failures);
}

}  // namespace slipway
