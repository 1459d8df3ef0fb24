#include "network_address.h"

#include <netdb.h>
#include <sys/un.h>

#include <cstring>
#include <thread>

namespace tracewright {

AddressLookup::AddressLookup(const NetworkAddress& address, int socket_type)
    : shared_(std::make_shared<Shared>()) {
  if (address.port.empty()) {
    sockaddr_un un{};
    un.sun_family = AF_UNIX;
    std::strncpy(un.sun_path, address.host.c_str(), sizeof un.sun_path - 1);
    std::memcpy(&shared_->address.storage, &un, sizeof un);
    shared_->address.length = sizeof un;
    shared_->address.family = AF_UNIX;
    shared_->state = State::found;
    return;
  }
  look_up(shared_, address, socket_type, AI_NUMERICHOST);
  if (shared_->state == State::found) return;
  shared_->state = State::pending;
  std::thread([shared = shared_, address, socket_type] {
    look_up(shared, address, socket_type, 0);
  }).detach();
}

void AddressLookup::look_up(const std::shared_ptr<Shared>& shared, const NetworkAddress& address,
                            int socket_type, int flags) {
  addrinfo hints{};
  hints.ai_socktype = socket_type;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &found);
  std::lock_guard<std::mutex> lock(shared->lock);
  if (error != 0) {
    shared->error = gai_strerror(error);
    shared->state = State::failed;
    return;
  }
  std::memcpy(&shared->address.storage, found->ai_addr, found->ai_addrlen);
  shared->address.length = found->ai_addrlen;
  shared->address.family = found->ai_family;
  shared->state = State::found;
  freeaddrinfo(found);
}

AddressLookup::State AddressLookup::state() const {
  std::lock_guard<std::mutex> lock(shared_->lock);
  return shared_->state;
}

ResolvedAddress AddressLookup::address() const {
  std::lock_guard<std::mutex> lock(shared_->lock);
  return shared_->address;
}

std::string AddressLookup::error() const {
  std::lock_guard<std::mutex> lock(shared_->lock);
  return shared_->error;
}

}  // namespace tracewright
