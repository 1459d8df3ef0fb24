// The other end of a socket sink, on the loopback interface.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "file/file_descriptor.h"
#include "sink/network_address.h"

namespace tracewright {
namespace test {

// A UDP socket bound to a free port of 127.0.0.1.
class DatagramReceiver {
 public:
  DatagramReceiver();
  NetworkAddress address() const { return {"127.0.0.1", std::to_string(port_)}; }
  int fd() const { return fd_.get(); }
  // The next datagram; empty when none comes within `limit_ms`.
  std::vector<uint8_t> receive(int limit_ms);
  void close() { fd_.reset(); }

 private:
  FileDescriptor fd_;
  uint16_t port_ = 0;
};

// A listening socket, TCP on a free port of 127.0.0.1 or at a path.
class Listener {
 public:
  // `receive_bytes`: size of the receive buffer; 0: the system's.
  explicit Listener(const std::string& unix_path = "", int receive_bytes = 0, uint16_t port = 0);
  NetworkAddress address() const;
  uint16_t port() const { return port_; }
  // The next connection; none when it does not come within `limit_ms`.
  FileDescriptor accept(int limit_ms);

 private:
  std::string unix_path_;
  FileDescriptor fd_;
  uint16_t port_ = 0;
};

// Whether `fd` has something to read within `limit_ms`.
bool readable(int fd, int limit_ms);

}  // namespace test
}  // namespace tracewright
