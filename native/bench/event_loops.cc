// The peers of bench/ovni-event.mjs: ovni events written by C++ loops that do nothing else. They
// have what the JavaScript emitters do not: no call an event, the header and the record's size as
// constants, the ends of the ring in registers, and no check of an argument. Ring, drain thread and
// file are the ones that JavaScript's events go through.
#include <napi.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "clock/clock.h"
#include "drain/drain_thread.h"
#include "dumpi_send.h"
#include "laplace_text.h"
#include "ring_producer.h"

namespace tracewright {

namespace {

constexpr size_t kHeaderBytes = 12;
constexpr size_t kClockOffset = 4;
// What the JavaScript side keeps free for the two events that record a flush.
constexpr uint32_t kReserveBytes = 2 * kHeaderBytes;

constexpr uint32_t header(uint8_t flags, const char (&mcv)[4]) {
  return flags | static_cast<uint32_t>(mcv[0]) << 8 | static_cast<uint32_t>(mcv[1]) << 16 |
         static_cast<uint32_t>(mcv[2]) << 24;
}

template <typename T>
inline void store(uint8_t* place, T value) {
  std::memcpy(place, &value, sizeof value);
}

struct KernelClock {
  static uint64_t now() { return Clock::monotonic(); }
};

struct ScaledClock {
  const Clock& clock = Clock::instance();
  uint64_t now() const { return clock.now(); }
};

struct Producer : RingProducer {
  bool scaled = false;
  uint64_t last = 0;  // the clock of the last event
};

// Writes `count` records of `kBytes` each; `write(record, i)` stores everything but the clock.
template <size_t kBytes, typename SomeClock, typename Write>
void emit_with(Producer& producer, const SomeClock& clock, uint32_t count, Write write) {
  Ring& ring = *producer.ring;
  ControlPage& control = ring.control();
  uint8_t* const data = ring.mapping() + ring.control_bytes();
  const uint64_t capacity = ring.capacity();
  const uint64_t mask = capacity - 1;
  uint64_t head = ring.head();
  uint64_t last = producer.last;
  uint64_t free = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (__builtin_expect(free < kBytes, 0)) {
      const auto room = [&] {
        return capacity - (head - control.tail.load(std::memory_order_acquire));
      };
      free = room();
      if (free < kBytes + kReserveBytes) {
        ring.drain();
        free = room();
        if (free < kBytes + kReserveBytes) {
          producer.failed = true;
          break;
        }
      }
    }
    uint8_t* const record = data + (head & mask);
    write(record, i);
    const uint64_t now = clock.now();
    if (__builtin_expect(now > last, 1)) last = now;
    store(record + kClockOffset, last);
    free -= kBytes;
    head += kBytes;
    control.head.store(head, std::memory_order_release);
    if (__builtin_expect(head >= control.wake_at.load(std::memory_order_relaxed), 0)) {
      control.wake_at.store(head + capacity / 8, std::memory_order_relaxed);
      DrainThread::instance().wake();
    }
  }
  producer.last = last;
}

template <size_t kBytes, typename Write>
void emit(Producer& producer, uint32_t count, Write write) {
  if (producer.scaled) {
    emit_with<kBytes>(producer, ScaledClock{}, count, write);
  } else {
    emit_with<kBytes>(producer, KernelClock{}, count, write);
  }
}

void bare_events(Producer& producer, uint32_t count) {
  emit<kHeaderBytes>(producer, count,
                     [](uint8_t* record, uint32_t) { store(record, header(0, "OB.")); });
}

// XYZ(i32 a, i32 b, u64 c)
void payload_events(Producer& producer, uint32_t count) {
  emit<kHeaderBytes + 16>(producer, count, [](uint8_t* record, uint32_t i) {
    store(record, header(0x0f, "XYZ"));
    store(record + 12, i);
    store(record + 16, i + 1);
    store(record + 20, static_cast<uint64_t>(i));
  });
}

// OM[ and OM] in turn.
void mark_events(Producer& producer, uint32_t count) {
  emit<kHeaderBytes + 12>(producer, count, [](uint8_t* record, uint32_t i) {
    store(record, (i & 1) == 0 ? header(0x0b, "OM[") : header(0x0b, "OM]"));
    store(record + 12, static_cast<uint64_t>(i / 2 + 1));
    store(record + 20, uint32_t{7});
  });
}

constexpr size_t kJumboBytes = 64;

void jumbo_events(Producer& producer, uint32_t count) {
  uint8_t data[kJumboBytes];
  std::memset(data, 'x', sizeof data);
  // Opaque to the compiler, as the caller's bytes would be.
  const uint8_t* from = data;
  __asm__ volatile("" : "+r"(from) : : "memory");
  emit<kHeaderBytes + 4 + kJumboBytes>(producer, count, [from](uint8_t* record, uint32_t) {
    store(record, header(0x13, "OB."));
    store(record + 12, static_cast<uint32_t>(kJumboBytes));
    std::memcpy(record + 16, from, kJumboBytes);
  });
}

// open(target, ringPath, ringBytes, scaled)
Napi::Value open(const Napi::CallbackInfo& info) {
  RingOptions options;
  options.format = "ovni 1";
  options.stamp_offset = kClockOffset;
  auto producer = std::make_unique<Producer>();
  producer->scaled = info[3].As<Napi::Boolean>();
  options.kernel_clock = !producer->scaled;
  return open_producer(info, std::move(options), std::move(producer));
}

Napi::Object initialise(Napi::Env env, Napi::Object exports) {
  const auto put = [&](const char* name, Napi::Value (*call)(const Napi::CallbackInfo&)) {
    exports[name] = Napi::Function::New(env, call, name);
  };
  put("open", open);
  put("bareEvents", run<Producer, bare_events>);
  put("payloadEvents", run<Producer, payload_events>);
  put("markEvents", run<Producer, mark_events>);
  put("jumboEvents", run<Producer, jumbo_events>);
  put("flush", flush<Producer>);
  put("close", close<Producer>);
  add_dumpi_send(env, exports);
  add_laplace_text(env, exports);
  exports["scaledClock"] = Napi::Boolean::New(env, Clock::instance().scaled());
  return exports;
}

}  // namespace
}  // namespace tracewright

static Napi::Object InitialiseBench(Napi::Env env, Napi::Object exports) {
  return tracewright::initialise(env, exports);
}

NODE_API_MODULE(NODE_GYP_MODULE_NAME, InitialiseBench)
