#include "addon/environment.h"

#include "clock/clock.h"

namespace tracewright {

namespace {

constexpr uint32_t kSocketLimitMs = 1000;

}  // namespace

uint32_t Environment::ending_limit_ms() {
  const uint64_t now = Clock::monotonic();
  if (now - ending_since_ > 2 * kSocketLimitMs * uint64_t{1000000}) ending_since_ = now;
  const uint64_t spent_ms = (now - ending_since_) / 1000000;
  return spent_ms >= kSocketLimitMs ? 0 : kSocketLimitMs - static_cast<uint32_t>(spent_ms);
}

void Environment::close(size_t id, uint32_t socket_limit_ms) {
  if (id >= rings.size() || !rings[id]) return;
  const std::shared_ptr<Ring> ring = std::move(rings[id]);
  rings[id] = nullptr;
  RingSlots::release(ring.get());
  ring->finish(socket_limit_ms);
}

}  // namespace tracewright
