// Where a socket connects to, and the look-up of names, which may take as long as it likes.
#pragma once

#include <sys/socket.h>

#include <memory>
#include <mutex>
#include <string>

namespace tracewright {

struct NetworkAddress {
  std::string host;  // or the path of a unix socket
  std::string port;  // empty for a unix socket
};

struct ResolvedAddress {
  sockaddr_storage storage;
  socklen_t length;
  int family;
};

// Looks a name up on a thread of its own; numeric addresses and unix paths are answered at once.
class AddressLookup {
 public:
  AddressLookup(const NetworkAddress& address, int socket_type);

  enum class State { pending, found, failed };
  State state() const;
  ResolvedAddress address() const;
  std::string error() const;

 private:
  struct Shared {
    mutable std::mutex lock;
    State state = State::pending;
    ResolvedAddress address{};
    std::string error;
  };
  struct Task {
    std::shared_ptr<Shared> shared;
    NetworkAddress address;
    int socket_type;
  };
  static void look_up(const std::shared_ptr<Shared>& shared, const NetworkAddress& address,
                      int socket_type, int flags);

  std::shared_ptr<Shared> shared_;
};

}  // namespace tracewright
