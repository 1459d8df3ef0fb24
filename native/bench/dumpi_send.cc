// DUMPI records of MPI_Send with wall time, written by a C++ loop that does nothing else: start and
// stop by clock_gettime as libdumpi takes them, every field stored big-endian, the record published
// in the ring that JavaScript's records go through.
#include "dumpi_send.h"

#include <arpa/inet.h>

#include <cstring>
#include <ctime>
#include <memory>
#include <utility>

#include "ring_producer.h"

namespace tracewright {

namespace {

constexpr uint16_t kLabel = 0;
constexpr uint8_t kMask = 0x4b;  // statuses, wall time, thread
constexpr uint32_t kRecordBytes = 2 + 1 + 2 + 12 + 16;

struct Sender : RingProducer {
  uint32_t bias = 0;
};

inline uint8_t* put16(uint8_t* at, uint16_t value) {
  value = htons(value);
  std::memcpy(at, &value, sizeof value);
  return at + sizeof value;
}

inline uint8_t* put32(uint8_t* at, uint32_t value) {
  value = htonl(value);
  std::memcpy(at, &value, sizeof value);
  return at + sizeof value;
}

inline timespec now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time;
}

void send(Sender& sender, uint32_t count) {
  Ring& ring = *sender.ring;
  ControlPage& control = ring.control();
  uint8_t* const data = ring.mapping() + ring.control_bytes();
  const uint64_t mask = ring.capacity() - 1;
  int64_t room = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (__builtin_expect(room < kRecordBytes, 0)) {
      room = ring.make_room(kRecordBytes);
      if (room < kRecordBytes) {
        sender.failed = true;
        return;
      }
    }
    const timespec start = now();
    uint8_t* at = data + (ring.head() & mask);
    at = put16(at, kLabel);
    *at++ = kMask;
    at = put16(at, 0);
    const timespec stop = now();
    at = put16(at, static_cast<uint16_t>(start.tv_sec - sender.bias));
    at = put32(at, static_cast<uint32_t>(start.tv_nsec));
    at = put16(at, static_cast<uint16_t>(stop.tv_sec - sender.bias));
    at = put32(at, static_cast<uint32_t>(stop.tv_nsec));
    at = put32(at, i);
    at = put16(at, 5);
    at = put32(at, 1);
    at = put32(at, 7);
    put16(at, 2);
    room -= kRecordBytes;
    control.pending = kRecordBytes;
    ring.commit<Stamp::none>();
  }
}

// dumpiCpuClocks(count): what a call with CPU time cannot do without, its two readings.
Napi::Value read_cpu_clocks(const Napi::CallbackInfo& info) {
  const uint32_t count = info[0].As<Napi::Number>().Uint32Value();
  uint64_t ns = 0;
  for (uint32_t i = 0; i < count; ++i) ns += Clock::cpu(false) + Clock::cpu(false);
  return Napi::Number::New(info.Env(), static_cast<double>(ns));
}

// dumpiOpen(target, ringPath, ringBytes)
Napi::Value open(const Napi::CallbackInfo& info) {
  RingOptions options;
  options.format = "dumpi";
  options.stamp = Stamp::none;
  auto sender = std::make_unique<Sender>();
  sender->bias = static_cast<uint32_t>(now().tv_sec);
  return open_producer(info, std::move(options), std::move(sender));
}

}  // namespace

void add_dumpi_send(Napi::Env env, Napi::Object exports) {
  exports["dumpiOpen"] = Napi::Function::New(env, open, "dumpiOpen");
  exports["dumpiSends"] = Napi::Function::New(env, run<Sender, send>, "dumpiSends");
  exports["dumpiCpuClocks"] = Napi::Function::New(env, read_cpu_clocks, "dumpiCpuClocks");
  exports["dumpiFlush"] = Napi::Function::New(env, flush<Sender>, "dumpiFlush");
  exports["dumpiClose"] = Napi::Function::New(env, close<Sender>, "dumpiClose");
}

}  // namespace tracewright
