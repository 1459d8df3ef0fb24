#include "sink/network_address.h"

#include <netdb.h>
#include <pthread.h>
#include <sys/un.h>

#include <cstring>

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
  // Not std::thread, which would throw where the system has no thread left.
  auto* const task = new Task{shared_, address, socket_type};
  const auto run = [](void* argument) -> void* {
    const std::unique_ptr<Task> mine(static_cast<Task*>(argument));
    look_up(mine->shared, mine->address, mine->socket_type, 0);
    return nullptr;
  };
  pthread_t thread;
  if (pthread_create(&thread, nullptr, run, task) == 0) {
    pthread_detach(thread);
    return;
  }
  delete task;
  shared_->error = "no thread for the look-up";
  shared_->state = State::failed;
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
