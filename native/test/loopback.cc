#include "loopback.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>

#include "check.h"

namespace tracewright {
namespace test {

namespace {

sockaddr_in loopback_address(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

uint16_t bind_to_loopback(int fd, uint16_t port) {
  sockaddr_in address = loopback_address(port);
  socklen_t length = sizeof address;
  CHECK(bind(fd, reinterpret_cast<sockaddr*>(&address), length) == 0);
  CHECK(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0);
  return ntohs(address.sin_port);
}

}  // namespace

bool readable(int fd, int limit_ms) {
  pollfd entry = {fd, POLLIN, 0};
  return poll(&entry, 1, limit_ms) == 1;
}

DatagramReceiver::DatagramReceiver() : fd_(socket(AF_INET, SOCK_DGRAM, 0)) {
  CHECK(fd_);
  const int bytes = 4 << 20;
  setsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  port_ = bind_to_loopback(fd_.get(), 0);
}

std::vector<uint8_t> DatagramReceiver::receive(int limit_ms) {
  std::vector<uint8_t> datagram;
  if (!readable(fd_.get(), limit_ms)) return datagram;
  datagram.resize(65536);
  const ssize_t bytes = recv(fd_.get(), datagram.data(), datagram.size(), 0);
  CHECK(bytes > 0);
  datagram.resize(static_cast<size_t>(bytes));
  return datagram;
}

Listener::Listener(const std::string& unix_path, int receive_bytes, uint16_t port)
    : unix_path_(unix_path), fd_(socket(unix_path.empty() ? AF_INET : AF_UNIX, SOCK_STREAM, 0)) {
  CHECK(fd_);
  if (receive_bytes > 0) {
    // Connections inherit it.
    CHECK(setsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes) == 0);
  }
  if (unix_path.empty()) {
    const int on = 1;
    CHECK(setsockopt(fd_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0);
    port_ = bind_to_loopback(fd_.get(), port);
  } else {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    CHECK(unix_path.size() < sizeof address.sun_path);
    std::memcpy(address.sun_path, unix_path.c_str(), unix_path.size());
    CHECK(bind(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  }
  CHECK(listen(fd_.get(), 8) == 0);
}

NetworkAddress Listener::address() const {
  return unix_path_.empty() ? NetworkAddress{"127.0.0.1", std::to_string(port_)}
                            : NetworkAddress{unix_path_, ""};
}

FileDescriptor Listener::accept(int limit_ms) {
  if (!readable(fd_.get(), limit_ms)) return FileDescriptor();
  return FileDescriptor(::accept(fd_.get(), nullptr, nullptr));
}

}  // namespace test
}  // namespace tracewright
