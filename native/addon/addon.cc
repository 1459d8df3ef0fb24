// The face of the core towards JavaScript. src/core/addon.ts says what each function takes; it is
// the only caller, so arguments are checked there.
#include <dlfcn.h>
#include <napi.h>
#include <sys/file.h>

#if defined(__APPLE__)
#include <pthread.h>
#else
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "addon/fast_function.h"
#include "addon/packing_calls.h"
#include "addon/producer_slots.h"
#include "drain/drain_thread.h"
#include "process/process_end.h"
#include "ring/ring.h"
#include "sink/datagram_sink.h"
#include "sink/file_sink.h"
#include "sink/shared_targets.h"
#include "sink/stream_sink.h"
#include "sink/target_group.h"

namespace tracewright {

TRACEWRIGHT_THREAD_LOCAL Ring* slots[kSlots];

namespace {

constexpr uint32_t kSocketLimitMs = 1000;
struct SlotFunctions {
  Napi::FunctionReference commit[kStamps];  // by Stamp
  Napi::FunctionReference read_stamp[kStamps];
  Napi::FunctionReference put_words;
};

// Brings news of targets to the thread of an environment. Locked throughout, for news comes from
// any thread until the environment is gone.
class NewsCarrier : public TargetWatcher {
 public:
  // False when the thread is being terminated.
  bool start(napi_env env, napi_value listener) {
    napi_value name = nullptr;
    napi_create_string_utf8(env, "tracewright.news", NAPI_AUTO_LENGTH, &name);
    if (napi_create_threadsafe_function(env, listener, nullptr, name, 0, 1, nullptr, nullptr,
                                        nullptr, deliver, &function_) != napi_ok) {
      function_ = nullptr;
      return false;
    }
    // It must not keep the service from ending.
    napi_unref_threadsafe_function(env, function_);
    // Hooks run in reverse order: this one before that of the function, which frees it.
    napi_add_env_cleanup_hook(
        env, [](void* self) { static_cast<NewsCarrier*>(self)->stop(); }, this);
    return true;
  }
  bool started() const { return function_ != nullptr; }

  void news(const std::string& group) override {
    auto* const text = new (std::nothrow) std::string(group);
    if (text != nullptr &&
        napi_call_threadsafe_function(function_, text, napi_tsfn_nonblocking) != napi_ok) {
      delete text;
    }
  }

  // The environment's thread only.
  void watch(const std::string& group) {
    auto& known = groups_[group];
    if (known) return;
    known = TargetGroup::of(group);
    known->watch(this);
  }
  void unwatch(const std::string& group) {
    const auto found = groups_.find(group);
    if (found == groups_.end()) return;
    found->second->unwatch(this);
    groups_.erase(found);
  }
  void stop() {
    for (const auto& [_, group] : groups_) group->unwatch(this);
    groups_.clear();
    if (function_ != nullptr) napi_release_threadsafe_function(function_, napi_tsfn_abort);
    function_ = nullptr;
  }

 private:
  static void deliver(napi_env env, napi_value listener, void*, void* data) {
    const std::unique_ptr<std::string> group(static_cast<std::string*>(data));
    if (env == nullptr || listener == nullptr) return;
    napi_value receiver = nullptr;
    napi_value name = nullptr;
    napi_get_undefined(env, &receiver);
    if (napi_create_string_utf8(env, group->data(), group->size(), &name) != napi_ok) return;
    napi_call_function(env, receiver, listener, 1, &name, nullptr);
  }

  napi_threadsafe_function function_ = nullptr;
  std::map<std::string, std::shared_ptr<TargetGroup>> groups_;
};

// What one environment (the main thread or a worker) has open.
struct Environment {
  NewsCarrier news;
  std::vector<std::shared_ptr<Ring>> rings;
  std::array<SlotFunctions, kSlots> functions;
  uint64_t ending_since = 0;

  // Rings that end with their environment share one wait for their sockets.
  uint32_t ending_limit_ms() {
    const uint64_t now = Clock::monotonic();
    if (now - ending_since > 2 * kSocketLimitMs * uint64_t{1000000}) ending_since = now;
    const uint64_t spent_ms = (now - ending_since) / 1000000;
    return spent_ms >= kSocketLimitMs ? 0 : kSocketLimitMs - static_cast<uint32_t>(spent_ms);
  }

  void close(size_t id, uint32_t socket_limit_ms) {
    if (id >= rings.size() || !rings[id]) return;
    const std::shared_ptr<Ring> ring = std::move(rings[id]);
    rings[id] = nullptr;
    for (Ring*& slot : slots) {
      if (slot == ring.get()) slot = Ring::closed_ring();
    }
    ring->finish(socket_limit_ms);
  }
};

// Keeps the mapping alive as long as JavaScript can reach it. The finalizer runs before the
// environment's cleanup hook, so both close, and whoever comes last frees.
struct BufferOwner {
  std::shared_ptr<Environment> environment;
  std::shared_ptr<Ring> ring;
  size_t id;
};

// ---- The hot path: no argument, no result ----

template <Stamp kStamp, size_t kSlot>
void commit_slot(const void*) {
  slots[kSlot]->commit<kStamp>();
}

template <Stamp kStamp, size_t kSlot>
void read_stamp_slot(const void*) {
  slots[kSlot]->read_stamp<kStamp>();
}

template <size_t kSlot>
void put_words_slot(const void*) {
  slots[kSlot]->put_words();
}

// What is called on the ring in a slot, both ways of calling it.
struct SlotCall {
  FastCallback fast;
  napi_callback plain;
};

template <FastCallback kCall>
napi_value plain(napi_env, napi_callback_info) {
  kCall(nullptr);
  return nullptr;
}

template <FastCallback kCall>
constexpr SlotCall slot_call() {
  return {kCall, plain<kCall>};
}

struct SlotCalls {
  SlotCall commit[kStamps];  // by Stamp
  SlotCall read_stamp[kStamps];
  SlotCall put_words;
};

template <size_t kSlot>
constexpr SlotCalls calls_of_slot() {
  return {
      {slot_call<commit_slot<Stamp::none, kSlot>>(), slot_call<commit_slot<Stamp::native, kSlot>>(),
       slot_call<commit_slot<Stamp::big, kSlot>>(),
       slot_call<commit_slot<Stamp::interval, kSlot>>()},
      {slot_call<read_stamp_slot<Stamp::none, kSlot>>(),
       slot_call<read_stamp_slot<Stamp::native, kSlot>>(),
       slot_call<read_stamp_slot<Stamp::big, kSlot>>(),
       slot_call<read_stamp_slot<Stamp::interval, kSlot>>()},
      slot_call<put_words_slot<kSlot>>()};
}

template <size_t... kSlot>
constexpr std::array<SlotCalls, kSlots> calls_of_slots(std::index_sequence<kSlot...>) {
  return {calls_of_slot<kSlot>()...};
}

constexpr std::array<SlotCalls, kSlots> kSlotCalls =
    calls_of_slots(std::make_index_sequence<kSlots>{});

napi_value make_function(napi_env env, const char* name, napi_callback callback, void* data) {
  napi_value function = nullptr;
  napi_create_function(env, name, NAPI_AUTO_LENGTH, callback, data, &function);
  return function;
}

// The functions of a slot are made once for an environment: V8 never lets go of a fast one.
napi_value slot_function(napi_env env, Napi::FunctionReference* made, const char* name,
                         const SlotCall& call) {
  if (made->IsEmpty()) {
    napi_value function = make_fast_function(call.fast);
    if (function == nullptr) function = make_function(env, name, call.plain, nullptr);
    *made = Napi::Persistent(Napi::Function(env, function));
  }
  return made->Value();
}

// For the rings beyond the slots: the ring comes with the function.
Ring* ring_of_function(napi_env env, napi_callback_info info) {
  void* data = nullptr;
  napi_get_cb_info(env, info, nullptr, nullptr, nullptr, &data);
  Ring* ring = static_cast<Ring*>(data);
  return ring->finished() ? Ring::closed_ring() : ring;
}

template <Stamp kStamp>
napi_value commit_any(napi_env env, napi_callback_info info) {
  ring_of_function(env, info)->commit<kStamp>();
  return nullptr;
}

template <Stamp kStamp>
napi_value read_stamp_any(napi_env env, napi_callback_info info) {
  ring_of_function(env, info)->read_stamp<kStamp>();
  return nullptr;
}

napi_value put_words_any(napi_env env, napi_callback_info info) {
  ring_of_function(env, info)->put_words();
  return nullptr;
}

constexpr napi_callback kCommitAny[kStamps] = {commit_any<Stamp::none>, commit_any<Stamp::native>,
                                               commit_any<Stamp::big>, commit_any<Stamp::interval>};
constexpr napi_callback kReadStampAny[kStamps] = {
    read_stamp_any<Stamp::none>, read_stamp_any<Stamp::native>, read_stamp_any<Stamp::big>,
    read_stamp_any<Stamp::interval>};

// ---- Everything else ----

void throw_failure(Napi::Env env, const Failure& failure) {
  Napi::Error error = Napi::Error::New(env, failure.text());
  error.Set("errno", Napi::Number::New(env, failure.error));
  error.ThrowAsJavaScriptException();
}

std::string text(const Napi::Object& object, const char* name) {
  const Napi::Value value = object.Get(name);
  return value.IsString() ? value.As<Napi::String>().Utf8Value() : std::string();
}

std::string bytes(const Napi::Object& object, const char* name) {
  const Napi::Value value = object.Get(name);
  if (!value.IsTypedArray()) return {};
  const Napi::Uint8Array array = value.As<Napi::Uint8Array>();
  return std::string(reinterpret_cast<const char*>(array.Data()), array.ByteLength());
}

double number(const Napi::Object& object, const char* name, double otherwise) {
  const Napi::Value value = object.Get(name);
  return value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : otherwise;
}

bool flag(const Napi::Object& object, const char* name) {
  const Napi::Value value = object.Get(name);
  return value.IsBoolean() && value.As<Napi::Boolean>().Value();
}

Environment& environment(Napi::Env env) {
  return **env.GetInstanceData<std::shared_ptr<Environment>>();
}

Ring* ring_argument(const Napi::CallbackInfo& info) {
  const Environment& all = environment(info.Env());
  const size_t id = info[0].As<Napi::Number>().Uint32Value();
  return id < all.rings.size() && all.rings[id] ? all.rings[id].get() : Ring::closed_ring();
}

std::shared_ptr<SharedTarget> target_argument(const Napi::Value& value) {
  return *value.As<Napi::External<std::shared_ptr<SharedTarget>>>().Data();
}

int free_slot() {
  for (int slot = 0; slot < kSlots; ++slot) {
    if (slots[slot] == Ring::closed_ring()) return slot;
  }
  return -1;
}

// joinTarget({ key, kind, path | host, port, preamble, datagramBytes, replace, epoch, epochUnix })
Napi::Value join_target_call(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Napi::Object options = info[0].As<Napi::Object>();
  const std::string kind = text(options, "kind");
  const std::string path = text(options, "path");
  const std::string preamble = bytes(options, "preamble");
  bool created = false;
  const auto make = [&](Failure* failure) {
    auto target = std::make_shared<SharedTarget>();
    bool lossless = true;
    target->epoch = options.Get("epoch").As<Napi::BigInt>().Uint64Value(&lossless);
    target->epoch_unix = options.Get("epochUnix").As<Napi::BigInt>().Uint64Value(&lossless);
    if (kind.empty()) {
      // The thread is being terminated: nothing can be read from it any more.
      failure->set("open", "a target", ECANCELED);
    } else if (kind == "file") {
      SizeLimits limits;
      limits.ring_directory = text(options, "ringDir");
      limits.rotate_bytes = static_cast<uint64_t>(number(options, "rotateBytes", 0));
      limits.keep_bytes = static_cast<uint64_t>(number(options, "keepBytes", 0));
      target->sink =
          SharedFileSink::create(path, preamble, flag(options, "replace"), limits, failure);
    } else if (kind == "udp") {
      const double datagram = number(options, "datagramBytes", 1400);
      target->sink = std::make_shared<DatagramSink>(
          NetworkAddress{text(options, "host"), text(options, "port")}, preamble,
          static_cast<size_t>(datagram));
    } else {
      const NetworkAddress address =
          kind == "unix" ? NetworkAddress{path, ""}
                         : NetworkAddress{text(options, "host"), text(options, "port")};
      target->sink = std::make_shared<StreamSink>(address, preamble);
    }
    if (target->sink) {
      target->sink->join(TargetGroup::of(text(options, "key")));
    } else {
      target.reset();
    }
    created = true;
    return target;
  };
  Failure failure;
  const std::shared_ptr<SharedTarget> target = join_target(text(options, "key"), make, &failure);
  if (!target) {
    throw_failure(env, failure);
    return env.Undefined();
  }
  Napi::Object result = Napi::Object::New(env);
  auto* const held = new std::shared_ptr<SharedTarget>(target);
  const auto release = [](napi_env, void* data, void*) {
    delete static_cast<std::shared_ptr<SharedTarget>*>(data);
  };
  napi_value external = nullptr;
  if (napi_create_external(env, held, release, nullptr, &external) != napi_ok) {
    // The thread is being terminated.
    target->sink->let_go();
    delete held;
    return env.Undefined();
  }
  result["target"] = Napi::Value(env, external);
  result["epoch"] = Napi::BigInt::New(env, target->epoch);
  result["epochUnix"] = Napi::BigInt::New(env, target->epoch_unix);
  result["created"] = Napi::Boolean::New(env, created);
  return result;
}

Napi::Value keep_target_call(const Napi::CallbackInfo& info) {
  keep_target(info[0].As<Napi::String>().Utf8Value());
  return info.Env().Undefined();
}

// takeNumber(target, wanted?)
Napi::Value take_number(const Napi::CallbackInfo& info) {
  const std::shared_ptr<SharedTarget> target = target_argument(info[0]);
  const uint32_t wanted = info[1].IsNumber() ? info[1].As<Napi::Number>().Uint32Value() : 0;
  return Napi::Number::New(info.Env(), target->take_number(info[1].IsNumber() ? &wanted : nullptr));
}

IntervalClock interval_clock(const Napi::Value& value) {
  IntervalClock clock;
  if (!value.IsObject()) return clock;
  const Napi::Object from = value.As<Napi::Object>();
  clock.offset = static_cast<int32_t>(number(from, "offset", -1));
  clock.bias = static_cast<int64_t>(number(from, "bias", 0));
  clock.preface = bytes(from, "preface");
  return clock;
}

IntervalOptions interval_options(const Napi::Value& value) {
  IntervalOptions options;
  if (!value.IsObject()) return options;
  const Napi::Object from = value.As<Napi::Object>();
  options.wall = interval_clock(from.Get("wall"));
  options.cpu = interval_clock(from.Get("cpu"));
  options.thread_cpu = flag(from, "threadCpu");
  options.counters_offset = static_cast<int32_t>(number(from, "countersOffset", -1));
  return options;
}

// mapPagesLate()
Napi::Value map_pages_late(const Napi::CallbackInfo& info) {
  Ring::map_pages_late();
  return info.Env().Undefined();
}

// openRing(options, target?): without a target, options.target names a file of the ring's own.
Napi::Value open_ring(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Napi::Object from = info[0].As<Napi::Object>();
  RingOptions options;
  options.path = text(from, "path");
  options.capacity = static_cast<size_t>(number(from, "capacity", 0));
  options.format = text(from, "format");
  options.target = text(from, "target");
  options.finish_from = text(from, "finishFrom");
  options.finish_to = text(from, "finishTo");
  options.stamp_offset = static_cast<uint32_t>(number(from, "stampOffset", 0));
  const std::string stamp = text(from, "stamp");
  options.stamp = stamp == "big" ? Stamp::big : stamp == "native" ? Stamp::native : Stamp::none;
  if (stamp == "interval") {
    options.stamp = Stamp::interval;
    options.interval = interval_options(from.Get("interval"));
  }
  options.kernel_clock = flag(from, "kernelClock");
  options.remove_if_empty = flag(from, "removeIfEmpty");
  options.length_offset = static_cast<int64_t>(number(from, "lengthOffset", -1));
  options.full = text(from, "full") == "drop" ? FullPolicy::drop : FullPolicy::block;
  options.block_limit_ms = static_cast<uint32_t>(number(from, "blockLimitMs", 1000));
  // A thread that is being terminated reads nothing any more; then some of the above is missing.
  if (!from.Get("capacity").IsNumber()) return env.Undefined();

  Failure failure;
  std::shared_ptr<Sink> sink;
  if (info[1].IsExternal()) {
    const std::shared_ptr<SharedTarget> target = target_argument(info[1]);
    options.epoch = target->epoch;
    options.target_kind = target->sink->slow() ? TargetKind::socket : TargetKind::shared_file;
    // The sink lives as long as its target, and the target as long as any ring.
    sink = std::shared_ptr<Sink>(target, target->sink.get());
  } else {
    const std::string preamble = bytes(from, "preamble");
    options.base_offset = preamble.size();
    sink = OwnFileSink::create(options.target, preamble, &failure);
    if (sink) {
      const std::string group = text(from, "group");
      sink->join(TargetGroup::of(group.empty() ? options.target : group));
      sink->hold();
    }
  }
  const std::shared_ptr<Ring> ring = sink ? Ring::open(options, sink, &failure) : nullptr;
  if (!ring) {
    // A stream that never began leaves no file behind.
    if (sink && !info[1].IsExternal()) unlink(options.target.c_str());
    if (sink) {
      sink->let_go();
      if (sink->abandoned()) sink->discard_unused();
    }
    throw_failure(env, failure);
    return env.Undefined();
  }

  const auto all = *env.GetInstanceData<std::shared_ptr<Environment>>();
  const size_t id = all->rings.size();
  all->rings.push_back(ring);
  const int slot = free_slot();
  if (slot >= 0) slots[slot] = ring.get();

  auto* owner = new BufferOwner{all, ring, id};
  const auto release = [](napi_env, void*, void* data) {
    auto* const held = static_cast<BufferOwner*>(data);
    held->environment->close(held->id, held->environment->ending_limit_ms());
    delete held;
  };
  napi_value buffer = nullptr;
  const napi_status status = napi_create_external_arraybuffer(
      env, ring->mapping(), ring->mapping_bytes(), release, owner, &buffer);
  if (status == napi_pending_exception || status == napi_cannot_run_js) {
    // The thread is being terminated, and Node has not taken the buffer over.
    release(env, nullptr, owner);
    return env.Undefined();
  }
  Napi::Object result = Napi::Object::New(env);
  result["id"] = Napi::Number::New(env, static_cast<double>(id));
  const TargetGroup* const group = ring->sink()->group();
  result["spent"] = Napi::Boolean::New(env, group != nullptr && group->spent());
  result["buffer"] = Napi::Value(env, buffer);
  const auto stamp_index = static_cast<size_t>(options.stamp);
  napi_value commit = nullptr;
  napi_value read_stamp = nullptr;
  napi_value put_words = nullptr;
  const bool words = flag(from, "words");
  if (slot < 0) {
    commit = make_function(env, "commit", kCommitAny[stamp_index], ring.get());
    read_stamp = make_function(env, "readStamp", kReadStampAny[stamp_index], ring.get());
    if (words) put_words = make_function(env, "putWords", put_words_any, ring.get());
  } else {
    const SlotCalls& calls = kSlotCalls[static_cast<size_t>(slot)];
    SlotFunctions& functions = all->functions[static_cast<size_t>(slot)];
    commit =
        slot_function(env, &functions.commit[stamp_index], "commit", calls.commit[stamp_index]);
    read_stamp = slot_function(env, &functions.read_stamp[stamp_index], "readStamp",
                               calls.read_stamp[stamp_index]);
    if (words) {
      put_words = slot_function(env, &functions.put_words, "putWords", calls.put_words);
    }
  }
  result["commit"] = Napi::Value(env, commit);
  result["readStamp"] = Napi::Value(env, read_stamp);
  if (words) result["putWords"] = Napi::Value(env, put_words);
  return result;
}

Napi::Value make_room(const Napi::CallbackInfo& info) {
  const int64_t room = ring_argument(info)->make_room(info[1].As<Napi::Number>().Uint32Value());
  return Napi::Number::New(info.Env(), static_cast<double>(room));
}

Napi::Value commit_explicit(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(
      info.Env(), ring_argument(info)->commit_explicit(info[1].As<Napi::Number>().Uint32Value()));
}

Napi::Value flush_ring(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), ring_argument(info)->flush());
}

// writeThrough(ring, head, body, stamped)
Napi::Value write_through(const Napi::CallbackInfo& info) {
  Napi::Uint8Array head = info[1].As<Napi::Uint8Array>();
  Napi::Uint8Array body = info[2].As<Napi::Uint8Array>();
  Failure failure;
  const bool written =
      ring_argument(info)->write_through(head.Data(), head.ByteLength(), body.Data(),
                                         body.ByteLength(), info[3].As<Napi::Boolean>(), &failure);
  if (!written) throw_failure(info.Env(), failure);
  return info.Env().Undefined();
}

// finish(ring, limit): at most `limit` ms are spent on a socket.
Napi::Value finish_ring(const Napi::CallbackInfo& info) {
  environment(info.Env())
      .close(info[0].As<Napi::Number>().Uint32Value(), info[1].As<Napi::Number>().Uint32Value());
  return info.Env().Undefined();
}

// Waits on a thread of the pool until the ring's records have left; resolves to whether they did.
class DrainWait : public Napi::AsyncWorker {
 public:
  DrainWait(Napi::Env env, std::shared_ptr<Ring> ring, uint32_t limit_ms)
      : Napi::AsyncWorker(env, "tracewright.flush"),
        deferred_(Napi::Promise::Deferred::New(env)),
        ring_(std::move(ring)),
        position_(ring_->head()),
        limit_ms_(limit_ms) {}
  Napi::Promise promise() const { return deferred_.Promise(); }
  void Execute() override { reached_ = ring_->wait_drained(position_, limit_ms_); }
  void OnOK() override { deferred_.Resolve(Napi::Boolean::New(Env(), reached_)); }

 private:
  Napi::Promise::Deferred deferred_;
  const std::shared_ptr<Ring> ring_;
  const uint64_t position_;
  const uint32_t limit_ms_;
  bool reached_ = false;
};

Napi::Value wait_drained(const Napi::CallbackInfo& info) {
  const Environment& all = environment(info.Env());
  const size_t id = info[0].As<Napi::Number>().Uint32Value();
  if (id >= all.rings.size() || !all.rings[id]) {
    const auto deferred = Napi::Promise::Deferred::New(info.Env());
    deferred.Resolve(Napi::Boolean::New(info.Env(), true));
    return deferred.Promise();
  }
  auto* wait = new DrainWait(info.Env(), all.rings[id], info[1].As<Napi::Number>().Uint32Value());
  const Napi::Promise promise = wait->promise();
  wait->Queue();
  return promise;
}

// What the sink of a target has counted, and its last failure.
Napi::Value counts_object(Napi::Env env, Sink& sink) {
  SinkCounts& counts = sink.counts();
  Napi::Object result = Napi::Object::New(env);
  const auto put = [&](const char* name, const std::atomic<uint64_t>& value) {
    result[name] = Napi::Number::New(env, static_cast<double>(value.load()));
  };
  put("records", counts.records);
  put("bytes", counts.bytes);
  put("datagrams", counts.datagrams);
  put("connections", counts.connections);
  put("errors", counts.errors);
  put("lostRecords", counts.lost_records);
  const Failure failure = sink.last_failure();
  if (failure.error != 0) {
    result["lastError"] = Napi::String::New(env, failure.text());
  }
  return result;
}

// Of a target: all rings of the process that feed it, those that are gone included.
Napi::Value target_counts(const Napi::CallbackInfo& info) {
  const std::shared_ptr<SharedTarget> target = target_argument(info[0]);
  Sink& sink = *target->sink;
  Napi::Object result;
  const Backlog backlog = DrainThread::instance().backlog_of(
      [&](const Sink& each) { return &each == &sink; },
      [&] { result = counts_object(info.Env(), sink).As<Napi::Object>(); });
  const auto put = [&](const char* name, double value) {
    result[name] = Napi::Number::New(info.Env(), value);
  };
  put("pendingRecords", static_cast<double>(backlog.records));
  put("pendingBytes", static_cast<double>(backlog.bytes));
  put("droppedRecords", backlog.dropped + sink.counts().dropped_records.load());
  put("refusedRecords", backlog.refused + sink.counts().refused_records.load());
  return result;
}

// Of every sink that belongs or belonged to a group, and of their rings.
Napi::Value group_counts(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto group = TargetGroup::of(info[0].As<Napi::String>().Utf8Value());
  TargetGroup::Counts counts;
  const Backlog backlog = DrainThread::instance().backlog_of(
      [&](const Sink& each) { return each.group() == group.get(); },
      [&] { counts = group->counts(); });
  Napi::Object result = Napi::Object::New(env);
  const auto put = [&](const char* name, double value) {
    result[name] = Napi::Number::New(env, value);
  };
  put("bytes", static_cast<double>(counts.bytes));
  put("pendingBytes", static_cast<double>(backlog.bytes));
  put("leftBytes", static_cast<double>(counts.left_bytes));
  put("droppedRecords", backlog.dropped + static_cast<double>(counts.dropped_records));
  put("refusedRecords", backlog.refused + static_cast<double>(counts.refused_records));
  put("lostRecords", static_cast<double>(counts.lost_records));
  put("errors", static_cast<double>(counts.errors));
  const Failure failure = group->state().failure;
  if (failure.error != 0) {
    result["lastError"] = Napi::String::New(env, failure.text());
  }
  return result;
}

// onTargetNews(listener): called with the name of a watched group after its state has changed.
Napi::Value on_target_news(const Napi::CallbackInfo& info) {
  NewsCarrier& news = environment(info.Env()).news;
  const bool started = news.started() || news.start(info.Env(), info[0]);
  return Napi::Boolean::New(info.Env(), started);
}

Napi::Value watch_group(const Napi::CallbackInfo& info) {
  NewsCarrier& news = environment(info.Env()).news;
  if (news.started()) news.watch(info[0].As<Napi::String>().Utf8Value());
  return info.Env().Undefined();
}

Napi::Value unwatch_group(const Napi::CallbackInfo& info) {
  environment(info.Env()).news.unwatch(info[0].As<Napi::String>().Utf8Value());
  return info.Env().Undefined();
}

// limitGroup(group, bytes, used)
Napi::Value limit_group(const Napi::CallbackInfo& info) {
  const auto bytes = [&](size_t i) {
    return static_cast<uint64_t>(info[i].As<Napi::Number>().DoubleValue());
  };
  TargetGroup::of(info[0].As<Napi::String>().Utf8Value())->limit(bytes(1), bytes(2));
  return info.Env().Undefined();
}

Napi::Value group_state(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto group = TargetGroup::of(info[0].As<Napi::String>().Utf8Value());
  const TargetGroup::State state = group->state();
  Napi::Object result = Napi::Object::New(env);
  result["failing"] = Napi::Boolean::New(env, state.failing);
  result["spent"] = Napi::Boolean::New(env, group->spent());
  result["recovered"] = Napi::Boolean::New(env, state.recovered);
  result["changes"] = Napi::Number::New(env, static_cast<double>(state.changes));
  result["first"] = Napi::Boolean::New(env, group->is_first(&environment(env).news));
  result["errno"] = Napi::Number::New(env, state.failure.error);
  result["message"] =
      Napi::String::New(env, state.failure.error == 0 ? std::string() : state.failure.text());
  return result;
}

Napi::Value in_place(const Napi::CallbackInfo& info) {
  const Ring* const ring = ring_argument(info);
  return Napi::Boolean::New(info.Env(), ring->sink() && ring->sink()->in_place());
}

Napi::Value ring_counts(const Napi::CallbackInfo& info) {
  Ring* ring = ring_argument(info);
  if (!ring->sink()) return info.Env().Undefined();
  Napi::Object result = counts_object(info.Env(), *ring->sink()).As<Napi::Object>();
  result["committedBytes"] = Napi::Number::New(info.Env(), static_cast<double>(ring->head()));
  result["pendingBytes"] =
      Napi::Number::New(info.Env(), static_cast<double>(ring->head() - ring->tail()));
  return result;
}

Napi::Value clock_now(const Napi::CallbackInfo& info) {
  return Napi::BigInt::New(info.Env(), Clock::instance().now());
}

Napi::Value kernel_clock_now(const Napi::CallbackInfo& info) {
  return Napi::BigInt::New(info.Env(), Clock::monotonic());
}

// cpuClock(ofThread): nanoseconds.
Napi::Value cpu_clock(const Napi::CallbackInfo& info) {
  const bool of_thread = info[0].As<Napi::Boolean>();
  return Napi::Number::New(info.Env(), static_cast<double>(Clock::cpu(of_thread)));
}

Napi::Value wall_clock(const Napi::CallbackInfo& info) {
  timespec ts;
  clock_gettime(CLOCK_REALTIME, &ts);
  return Napi::BigInt::New(info.Env(), static_cast<uint64_t>(ts.tv_sec) * 1000000000u +
                                           static_cast<uint64_t>(ts.tv_nsec));
}

Napi::Value finish_on_signal(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), DrainThread::instance().finish_on_signal(
                                            info[0].As<Napi::Number>().Int32Value()));
}

Napi::Value ring_is_held(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), Ring::is_held(info[0].ToNumber().Int32Value()));
}

// What a ring's control page notes of the file at a path: its number, 0 of nothing, and its birth.
Napi::Value file_identity(const Napi::CallbackInfo& info) {
  const FileIdentity identity(info[0].As<Napi::String>().Utf8Value());
  auto numbers = Napi::BigUint64Array::New(info.Env(), 2);
  numbers[0] = identity.inode();
  numbers[1] = identity.born();
  return numbers;
}

Napi::Value process_ends(const Napi::CallbackInfo& info) {
  ProcessEnd::begin();
  return info.Env().Undefined();
}

// Goes with the descriptor, and so with a process that is killed. A file system without locks says
// nothing against it.
Napi::Value try_lock(const Napi::CallbackInfo& info) {
  const int fd = info[0].ToNumber().Int32Value();
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return Napi::Boolean::New(info.Env(), false);
    if (errno != EINTR) break;
  }
  return Napi::Boolean::New(info.Env(), true);
}

Napi::Value hold_signals(const Napi::CallbackInfo& info) {
  DrainThread::instance().hold_signals();
  return info.Env().Undefined();
}

Napi::Value release_signals(const Napi::CallbackInfo& info) {
  DrainThread::instance().release_signals();
  return info.Env().Undefined();
}

Napi::Value put_list_entry_call(const Napi::CallbackInfo& info) {
  const auto argument = [&](size_t i) { return info[i].As<Napi::String>().Utf8Value(); };
  Failure failure;
  if (!put_list_entry(argument(0), argument(1), argument(2), argument(3), argument(4), &failure)) {
    throw_failure(info.Env(), failure);
  }
  return info.Env().Undefined();
}

Napi::Value forget_list_entries_call(const Napi::CallbackInfo& info) {
  forget_list_entries(info[0].As<Napi::String>().Utf8Value());
  return info.Env().Undefined();
}

Napi::Value put_note_call(const Napi::CallbackInfo& info) {
  put_note(info[0].As<Napi::String>().Utf8Value(), info[1].As<Napi::String>().Utf8Value());
  return info.Env().Undefined();
}

Napi::Value get_note_call(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), get_note(info[0].As<Napi::String>().Utf8Value()));
}

Napi::Value claim_note_call(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return Napi::Boolean::New(env,
                            claim_note(info[0].As<Napi::String>().Utf8Value(), &environment(env)));
}

Napi::Value replace_file_call(const Napi::CallbackInfo& info) {
  Failure failure;
  if (!replace_file(info[0].As<Napi::String>().Utf8Value(), info[1].As<Napi::String>().Utf8Value(),
                    &failure)) {
    throw_failure(info.Env(), failure);
  }
  return info.Env().Undefined();
}

// The number by which the operating system knows the calling thread.
Napi::Value system_thread_id(const Napi::CallbackInfo& info) {
#if defined(__APPLE__)
  uint64_t id = 0;
  pthread_threadid_np(nullptr, &id);
  return Napi::Number::New(info.Env(), static_cast<double>(id));
#else
  return Napi::Number::New(info.Env(), static_cast<double>(syscall(SYS_gettid)));
#endif
}

Napi::Value drain_rounds(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(DrainThread::instance().rounds()));
}

Napi::Object control_layout(Napi::Env env) {
  Napi::Object layout = Napi::Object::New(env);
  const auto put = [&](const char* name, size_t value) {
    layout[name] = Napi::Number::New(env, static_cast<double>(value));
  };
  put("pending", offsetof(ControlPage, pending));
  put("epilogue", offsetof(ControlPage, epilogue));
  put("stalled", offsetof(ControlPage, stalled));
  put("position", offsetof(ControlPage, position));
  put("stallFrom", offsetof(ControlPage, stall_from));
  put("stallTo", offsetof(ControlPage, stall_to));
  put("stamp", offsetof(ControlPage, stamp));
  put("droppedEvents", offsetof(ControlPage, dropped_events));
  put("refusedEvents", offsetof(ControlPage, refused_events));
  put("unfinished", offsetof(ControlPage, unfinished));
  put("wordsAt", offsetof(ControlPage, words_at));
  put("words", offsetof(ControlPage, words));
  put("stampArea", offsetof(ControlPage, stamp_area));
  put("epilogues", offsetof(ControlPage, epilogues));
  put("epilogueStride", sizeof(Epilogue));
  put("epilogueHeadBytes", offsetof(Epilogue, bytes));
  put("version", offsetof(ControlPage, version));
  put("controlBytes", offsetof(ControlPage, control_bytes));
  put("capacity", offsetof(ControlPage, capacity));
  put("format", offsetof(ControlPage, format));
  put("targetKind", offsetof(ControlPage, target_kind));
  put("stampOffset", offsetof(ControlPage, stamp_offset));
  put("baseOffset", offsetof(ControlPage, base_offset));
  put("pid", offsetof(ControlPage, pid));
  put("processStart", offsetof(ControlPage, process_start));
  put("bootId", offsetof(ControlPage, boot_id));
  put("head", offsetof(ControlPage, head));
  put("lastStamp", offsetof(ControlPage, last_stamp));
  put("tail", offsetof(ControlPage, tail));
  put("claimFrom", offsetof(ControlPage, claim_from));
  put("claimTo", offsetof(ControlPage, claim_to));
  put("claimOffset", offsetof(ControlPage, claim_offset));
  put("anyBytes", kAnyBytes);
  put("targetInode", offsetof(ControlPage, target_inode));
  put("targetBorn", offsetof(ControlPage, target_born));
  put("target", offsetof(ControlPage, target));
  put("pathBytes", kPathBytes);
  put("note", offsetof(ControlPage, note));
  put("noteBytes", kNoteBytes);
  put("bytes", Ring::closed_ring()->control_bytes());
  return layout;
}

// Node closes an addon with the last environment that loaded it, which may be a worker's. The drain
// thread, the signal handler and what the threads share need it as long as the process.
void stay_loaded() {
  Dl_info self;
  if (dladdr(reinterpret_cast<const void*>(&stay_loaded), &self) == 0) return;
  // The handle is kept: that counts too, where the flag is unknown.
  dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

Napi::Object initialise(Napi::Env env, Napi::Object exports) {
  static const bool once = (stay_loaded(), true);
  static_cast<void>(once);
  // A thread may load the addon again (test runners do); what it has open stays open.
  for (Ring*& slot : slots) {
    if (slot == nullptr) slot = Ring::closed_ring();
  }
  const auto all = std::make_shared<Environment>();
  env.SetInstanceData(new std::shared_ptr<Environment>(all));
  env.AddCleanupHook(
      [](std::shared_ptr<Environment>* held) {
        for (size_t id = 0; id < (*held)->rings.size(); ++id) {
          (*held)->close(id, (*held)->ending_limit_ms());
        }
        forgo_notes(held->get());
        delete held;
      },
      new std::shared_ptr<Environment>(all));

  const auto put = [&](const char* name, Napi::Value (*call)(const Napi::CallbackInfo&)) {
    exports[name] = Napi::Function::New(env, call, name);
  };
  put("joinTarget", join_target_call);
  put("keepTarget", keep_target_call);
  put("takeNumber", take_number);
  put("openRing", open_ring);
  put("makeRoom", make_room);
  put("commitExplicit", commit_explicit);
  put("flush", flush_ring);
  put("writeThrough", write_through);
  put("finish", finish_ring);
  put("waitDrained", wait_drained);
  put("targetCounts", target_counts);
  put("inPlace", in_place);
  put("ringCounts", ring_counts);
  put("groupCounts", group_counts);
  put("onTargetNews", on_target_news);
  put("watchGroup", watch_group);
  put("unwatchGroup", unwatch_group);
  put("groupState", group_state);
  put("limitGroup", limit_group);
  add_packing_calls(exports);
  put("clockNow", clock_now);
  put("kernelClockNow", kernel_clock_now);
  put("mapPagesLate", map_pages_late);
  put("wallClock", wall_clock);
  put("cpuClock", cpu_clock);
  put("finishOnSignal", finish_on_signal);
  put("ringIsHeld", ring_is_held);
  put("fileIdentity", file_identity);
  put("processEnds", process_ends);
  put("tryLock", try_lock);
  put("holdSignals", hold_signals);
  put("releaseSignals", release_signals);
  put("putListEntry", put_list_entry_call);
  put("forgetListEntries", forget_list_entries_call);
  put("putNote", put_note_call);
  put("getNote", get_note_call);
  put("claimNote", claim_note_call);
  put("replaceFile", replace_file_call);
  put("systemThreadId", system_thread_id);
  put("drainRounds", drain_rounds);
  exports["control"] = control_layout(env);
  exports["fastCalls"] = Napi::Boolean::New(env, has_fast_functions());
  exports["scaledClock"] = Napi::Boolean::New(env, Clock::instance().scaled());
  return exports;
}

}  // namespace
}  // namespace tracewright

static Napi::Object InitialiseTracewright(Napi::Env env, Napi::Object exports) {
  return tracewright::initialise(env, exports);
}

NODE_API_MODULE(NODE_GYP_MODULE_NAME, InitialiseTracewright)
