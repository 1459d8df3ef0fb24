#include "sink/stream_sink.h"

#include <sys/ioctl.h>
#include <sys/socket.h>

#include <random>
#include <thread>
#include <vector>

#include "check.h"
#include "drain/drain_thread.h"
#include "eventually.h"
#include "loopback.h"
#include "producer.h"
#include "record.h"
#include "temporary_directory.h"
#include "test_ring.h"

namespace tracewright {
namespace test {

namespace {

constexpr int kPatienceMs = 60000;
const std::string kPreamble = "stream preamble";

// One connection as its receiver sees it: the preamble, then records.
class Connection {
 public:
  explicit Connection(FileDescriptor fd) : fd_(std::move(fd)) { CHECK(fd_); }
  int fd() const { return fd_.get(); }

  // Takes what comes within `limit_ms`; false at the end of the connection.
  bool take(Survey& survey, int limit_ms, size_t most = 1 << 20, int flags = 0) {
    if (!readable(fd_.get(), limit_ms)) return true;
    const size_t held = bytes_.size();
    bytes_.resize(held + most);
    const ssize_t read = recv(fd_.get(), bytes_.data() + held, most, flags);
    bytes_.resize(held + (read > 0 ? static_cast<size_t>(read) : 0));
    if (!greeted_ && bytes_.size() >= kPreamble.size()) {
      CHECK_EQUAL(std::string(bytes_.begin(), bytes_.begin() + kPreamble.size()), kPreamble);
      bytes_.erase(bytes_.begin(), bytes_.begin() + kPreamble.size());
      greeted_ = true;
    }
    if (greeted_) {
      const size_t used = survey.take_all(bytes_.data(), bytes_.size());
      bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<long>(used));
    }
    return read > 0;
  }
  // Bytes of a record that is not complete.
  size_t rest() const { return bytes_.size(); }

 private:
  FileDescriptor fd_;
  std::vector<uint8_t> bytes_;
  bool greeted_ = false;
};

void carry_records_of_two_rings(Listener& listener, uint64_t bytes_each, bool slow_reader) {
  const auto sink = std::make_shared<StreamSink>(listener.address(), kPreamble);
  constexpr uint32_t kProducers = 2;
  std::vector<std::shared_ptr<Ring>> rings;
  for (uint32_t id = 0; id < kProducers; ++id)
    rings.push_back(open_socket_ring(sink, FullPolicy::block));
  Connection connection(listener.accept(kPatienceMs));
  std::vector<std::thread> threads;
  std::atomic<uint64_t> written[kProducers] = {};
  for (uint32_t id = 0; id < kProducers; ++id) {
    threads.emplace_back([&, id] {
      Producer producer(*rings[id], id);
      std::minstd_rand random(id + 1);
      for (uint64_t bytes = 0; bytes < bytes_each;) {
        const uint32_t size = kRecordHead + static_cast<uint32_t>(random() % 3000);
        CHECK(producer.write<Stamp::big>(size));
        bytes += size;
      }
      CHECK(rings[id]->wait_drained(rings[id]->head(), 60000));
      written[id].store(producer.written());
    });
  }
  Survey survey(true);
  const auto complete = [&] {
    for (uint32_t id = 0; id < kProducers; ++id) {
      const uint64_t all = written[id].load();
      if (all == 0 || survey.records(id) != all) return false;
    }
    return true;
  };
  std::minstd_rand random(9);
  while (!complete()) {
    if (slow_reader) pause_us(static_cast<long>(random() % 300));
    CHECK(connection.take(survey, 10, slow_reader ? 1 + random() % 60000 : 1 << 20));
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_EQUAL(connection.rest(), 0u);
  CHECK_EQUAL(sink->counts().records.load(), survey.records(0) + survey.records(1));
  CHECK_EQUAL(sink->counts().connections.load(), 1u);
  for (const auto& ring : rings) ring->finish(1000);
  CHECK_EQUAL(sink->counts().lost_records.load(), 0u);
}

}  // namespace

TEST(stream_keeps_records_of_two_rings_apart_over_tcp) {
  Listener listener;
  carry_records_of_two_rings(listener, scaled(160 << 20), false);
}

TEST(stream_keeps_records_of_two_rings_apart_when_the_reader_is_slow) {
  Listener listener("", 16 << 10);
  carry_records_of_two_rings(listener, scaled(32 << 20), true);
}

TEST(stream_keeps_records_of_two_rings_apart_over_a_unix_socket) {
  TemporaryDirectory directory;
  Listener listener(directory.path("socket"));
  carry_records_of_two_rings(listener, scaled(160 << 20), false);
}

TEST(stream_connects_once_the_listener_comes) {
  uint16_t port;
  {
    Listener before;
    port = before.port();
  }
  const auto sink =
      std::make_shared<StreamSink>(NetworkAddress{"127.0.0.1", std::to_string(port)}, kPreamble);
  const auto ring = open_socket_ring(sink, FullPolicy::block);
  Producer producer(*ring, 0);
  for (int i = 0; i < 100; ++i) CHECK(producer.write<Stamp::big>(100));
  CHECK(eventually([&] { return sink->failing(); }));
  CHECK_EQUAL(sink->last_failure().error, ECONNREFUSED);
  Listener listener("", 0, port);
  Connection connection(listener.accept(kPatienceMs));
  Survey survey(true);
  while (survey.records(0) < 100) CHECK(connection.take(survey, 10));
  CHECK(ring->wait_drained(ring->head(), 60000));
  CHECK(!sink->failing());
  ring->finish(1000);
}

TEST(stream_sends_again_what_was_not_acknowledged) {
  Listener listener("", 16 << 10);
  const auto sink = std::make_shared<StreamSink>(listener.address(), kPreamble);
  const auto ring = open_socket_ring(sink, FullPolicy::block, 4 << 20);
  std::atomic<bool> done{false};
  std::atomic<uint64_t> written{0};
  std::thread thread([&] {
    Producer producer(*ring, 0);
    std::minstd_rand random(1);
    const uint64_t total = scaled(96 << 20);
    for (uint64_t bytes = 0; bytes < total;) {
      const uint32_t size = kRecordHead + static_cast<uint32_t>(random() % 3000);
      // Without a connection there is no waiting: the ring says no at once.
      while (!producer.write<Stamp::big>(size)) pause_us(1000);
      bytes += size;
    }
    written.store(producer.written());
    done.store(true);
  });
  Survey survey(true);
  std::minstd_rand random(3);
  uint64_t connections = 0;
  while (!done.load() || sink->counts().records.load() < written.load()) {
    FileDescriptor accepted = listener.accept(10);
    if (!accepted) continue;
    ++connections;
    Connection connection(std::move(accepted));
    survey.restart();
    // Reads for a while, then stops until the window is closed and nothing more can arrive. What
    // has arrived by then is the peer's, and is looked at without being taken, for that would open
    // the window again. Closing with it unread resets the connection in the middle of a record.
    const uint64_t records = survey.records(0) + 2000 + random() % 3000;
    const auto all_acknowledged = [&] {
      return done.load() && sink->counts().records.load() == written.load();
    };
    while (survey.records(0) < records && !all_acknowledged()) {
      CHECK(connection.take(survey, 10));
    }
    int last = -1;
    int waiting = 0;
    uint64_t since = Clock::monotonic();
    CHECK(eventually([&] {
      CHECK(ioctl(connection.fd(), FIONREAD, &waiting) == 0);
      if (waiting != last) {
        last = waiting;
        since = Clock::monotonic();
      }
      return Clock::monotonic() - since > 50000000;
    }));
    if (waiting > 0) connection.take(survey, 0, 1 << 20, MSG_PEEK);
  }
  thread.join();
  CHECK(connections >= 2u);
  CHECK(sink->counts().connections.load() >= connections);
  CHECK_EQUAL(survey.records(0), written.load());
  ring->finish(1000);
  CHECK_EQUAL(sink->counts().lost_records.load(), 0u);
}

TEST(stream_serves_every_ring_when_the_reader_is_slow) {
  Listener listener("", 8 << 10);
  const auto sink = std::make_shared<StreamSink>(listener.address(), kPreamble);
  const auto busy = open_socket_ring(sink, FullPolicy::drop);
  const auto quiet = open_socket_ring(sink, FullPolicy::block);
  Connection connection(listener.accept(kPatienceMs));
  std::atomic<bool> done{false};
  std::thread thread([&] {
    // More than the connection ever takes.
    Producer producer(*busy, 0);
    while (!done.load()) producer.write<Stamp::big>(2000);
  });
  Survey survey(true);
  while (survey.records(0) < 1000) CHECK(connection.take(survey, 10, 4000));
  Producer producer(*quiet, 1);
  for (int i = 0; i < 20; ++i) CHECK(producer.write<Stamp::big>(500));
  const uint64_t before = survey.records(0);
  while (survey.records(1) < 20) {
    CHECK(connection.take(survey, 10, 4000));
    // Both share the connection; the quiet one's few records do not wait for all of the other's.
    CHECK(survey.records(0) - before < 10000);
  }
  done.store(true);
  while (!busy->wait_drained(busy->head(), 1)) connection.take(survey, 1);
  thread.join();
  std::thread finisher([&] {
    busy->finish(60000);
    quiet->finish(60000);
  });
  std::atomic<bool> finished{false};
  std::thread watcher([&] {
    finisher.join();
    finished.store(true);
  });
  while (!finished.load()) connection.take(survey, 1);
  watcher.join();
}

TEST(stream_gives_up_at_the_end_when_nobody_reads) {
  Listener listener("", 8 << 10);
  const auto sink = std::make_shared<StreamSink>(listener.address(), kPreamble);
  const auto ring = open_socket_ring(sink, FullPolicy::drop, 4 << 20);
  Connection connection(listener.accept(kPatienceMs));
  Producer producer(*ring, 0);
  uint64_t dropped = 0;
  for (int i = 0; i < 20000; ++i) dropped += producer.write<Stamp::big>(1000) ? 0 : 1;
  CHECK(dropped > 0);
  const uint64_t before = Clock::monotonic();
  ring->finish(200);
  CHECK(Clock::monotonic() - before < 30000000000);
  // The kernel has some of them, the rest has not left the ring.
  const SinkCounts& counts = sink->counts();
  CHECK(counts.unacknowledged_records.load() > 0);
  CHECK(counts.lost_records.load() > 0);
  CHECK_EQUAL(
      counts.records.load() + counts.unacknowledged_records.load() + counts.lost_records.load(),
      producer.written());
}

TEST(stream_lets_the_drain_thread_sleep_while_it_is_connected) {
#if defined(__linux__)
  Listener listener;
  const auto sink = std::make_shared<StreamSink>(listener.address(), kPreamble);
  const auto ring = open_socket_ring(sink, FullPolicy::block);
  Connection connection(listener.accept(kPatienceMs));
  Producer producer(*ring, 0);
  CHECK(producer.write<Stamp::big>(100));
  Survey survey(true);
  while (survey.records(0) < 1) CHECK(connection.take(survey, 10));
  uint64_t rounds = 0;
  uint64_t since = Clock::monotonic();
  CHECK(eventually([&] {
    const uint64_t now = DrainThread::instance().rounds();
    if (now != rounds) since = Clock::monotonic();
    rounds = now;
    return Clock::monotonic() - since > 1500000000;
  }));
  ring->finish(1000);
#else
  SKIP("no fence on other threads: it looks now and then");
#endif
}

}  // namespace test
}  // namespace tracewright
