#include "launcher/ports.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "core/base/error.h"
#include "launcher/descriptor.h"

namespace slipway {

int free_port() {
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (!socket.is_open() || ::bind(socket.get(), generic, size) != 0 ||
      ::getsockname(socket.get(), generic, &size) != 0) {
    throw Error(ExitCode::kUsage, std::string("cannot find a free port on 127.0.0.1: ") + std::strerror(errno));
  }
  return ntohs(address.sin_port);
}

}  // namespace slipway
