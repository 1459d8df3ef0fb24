#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "addon/arguments.h"
#include "addon/calls.h"
#include "addon/environment.h"
#include "addon/sink_counts.h"
#include "addon/target_value.h"
#include "drain/drain_thread.h"
#include "file/anchor.h"
#include "sink/file_sink.h"
#include "sink/pipe_sink.h"
#include "sink/target_group.h"

namespace tracewright {

namespace {

// Keeps the mapping alive as long as JavaScript can reach it. The finalizer runs before the
// environment's cleanup hook. Both close the ring, and the last of them frees it.
struct BufferOwner {
  std::shared_ptr<Environment> environment;
  std::shared_ptr<Ring> ring;
  size_t id;
};

IntervalClock interval_clock(const Napi::Value& value) {
  IntervalClock clock;
  if (!value.IsObject()) return clock;
  const Napi::Object from = value.As<Napi::Object>();
  clock.offset = static_cast<int32_t>(number_of(from, "offset", -1));
  clock.bias = static_cast<int64_t>(number_of(from, "bias", 0));
  clock.preface = bytes_of(from, "preface");
  return clock;
}

IntervalOptions interval_options(const Napi::Value& value) {
  IntervalOptions options;
  if (!value.IsObject()) return options;
  const Napi::Object from = value.As<Napi::Object>();
  options.wall = interval_clock(from.Get("wall"));
  options.cpu = interval_clock(from.Get("cpu"));
  options.thread_cpu = flag_of(from, "threadCpu");
  options.counters_offset = static_cast<int32_t>(number_of(from, "countersOffset", -1));
  return options;
}

OpenRecordOptions open_record_options(const Napi::Value& value) {
  OpenRecordOptions options;
  if (!value.IsObject()) return options;
  const Napi::Object from = value.As<Napi::Object>();
  options.places = static_cast<uint32_t>(number_of(from, "places", 0));
  options.most = static_cast<uint32_t>(number_of(from, "most", 0));
  options.longest = static_cast<uint32_t>(number_of(from, "longest", 0));
  options.number_at = static_cast<int32_t>(number_of(from, "numberAt", -1));
  return options;
}

RecordShape record_shape(const Napi::Value& value) {
  RecordShape shape;
  if (!value.IsObject()) return shape;
  const Napi::Object from = value.As<Napi::Object>();
  const std::string kind = text_of(from, "kind");
  if (kind == "fixed") shape.kind = RecordShape::Kind::fixed;
  if (kind == "lines") shape.kind = RecordShape::Kind::lines;
  if (kind == "flagged") shape.kind = RecordShape::Kind::flagged;
  shape.bytes = static_cast<uint32_t>(number_of(from, "bytes", 0));
  shape.own = text_of(from, "own");
  return shape;
}

[[gnu::cold]] RingOptions ring_options(const Napi::Object& from) {
  RingOptions options;
  options.path = text_of(from, "path");
  options.capacity = static_cast<size_t>(number_of(from, "capacity", 0));
  options.format = text_of(from, "format");
  options.target = text_of(from, "target");
  options.finish_from = text_of(from, "finishFrom");
  options.finish_to = text_of(from, "finishTo");
  options.end_list = text_of(from, "endList");
  options.end_key = text_of(from, "endKey");
  options.file_mode = file_mode_of(from);
  options.stamp_offset = static_cast<uint32_t>(number_of(from, "stampOffset", 0));
  const std::string stamp = text_of(from, "stamp");
  options.stamp = stamp == "big" ? Stamp::big : stamp == "native" ? Stamp::native : Stamp::none;
  if (stamp == "interval") {
    options.stamp = Stamp::interval;
    options.interval = interval_options(from.Get("interval"));
  }
  options.kernel_clock = flag_of(from, "kernelClock");
  options.remove_if_empty = flag_of(from, "removeIfEmpty");
  options.length_offset = static_cast<int64_t>(number_of(from, "lengthOffset", -1));
  options.shape = record_shape(from.Get("shape"));
  options.full = text_of(from, "full") == "drop" ? FullPolicy::drop : FullPolicy::block;
  options.block_limit_ms = static_cast<uint32_t>(number_of(from, "blockLimitMs", 1000));
  options.open_records = open_record_options(from.Get("openRecords"));
  options.open_records.length_at =
      static_cast<uint32_t>(std::max<int64_t>(options.length_offset, 0));
  options.waiting_capacity = static_cast<size_t>(number_of(from, "waitingCapacity", 0));
  options.waiting_groups = static_cast<uint32_t>(number_of(from, "waitingGroups", 0));
  options.group_at = static_cast<uint32_t>(number_of(from, "groupAt", 0));
  return options;
}

// mapPagesLate()
Napi::Value map_pages_late(const Napi::CallbackInfo& info) {
  Ring::map_pages_late();
  return info.Env().Undefined();
}

// What JavaScript gets of a ring.
[[gnu::cold]] Napi::Value opened_ring(Napi::Env env, const std::shared_ptr<Ring>& ring,
                                      bool words) {
  const std::shared_ptr<Environment> all = shared_environment(env);
  const size_t id = all->rings.size();
  all->rings.push_back(ring);

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
  result["spent"] = Napi::Boolean::New(env, ring->sink()->spent());
  result["buffer"] = Napi::Value(env, buffer);
  result["dataOffset"] = Napi::Number::New(env, static_cast<double>(ring->control_bytes()));
  const RingFunctions functions = all->slots.assign(env, ring.get(), ring->options().stamp, words,
                                                    ring->options().open_records.places > 0);
  result["commit"] = Napi::Value(env, functions.commit);
  result["readStamp"] = Napi::Value(env, functions.read_stamp);
  if (functions.put_words != nullptr) {
    result["putWords"] = Napi::Value(env, functions.put_words);
  }
  if (functions.commit_open != nullptr) {
    result["beginOpen"] = Napi::Value(env, functions.begin_open);
    result["commitOpen"] = Napi::Value(env, functions.commit_open);
  }
  return result;
}

// openRing(options, target?): without a target, options.target names a file of the ring's own.
[[gnu::cold]] Napi::Value open_ring(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Napi::Object from = info[0].As<Napi::Object>();
  RingOptions options = ring_options(from);
  // A thread that is being terminated cannot read its options any more.
  if (!from.Get("capacity").IsNumber()) return env.Undefined();

  Failure failure;
  // In the same call: a thread that is terminated in between would leave it empty.
  const std::string directory = text_of(from, "directory");
  if (!directory.empty()) {
    const Place place(directory);
    const auto mode = static_cast<mode_t>(number_of(from, "directoryMode", 0700));
    if (mkdirat(place.directory(), place.name(), mode) != 0) {
      failure.set("create", directory);
      throw_failure(env, failure);
      return env.Undefined();
    }
  }
  std::shared_ptr<Sink> sink;
  if (info[1].IsExternal()) {
    const std::shared_ptr<SharedTarget> target = target_of(info[1]);
    options.epoch = target->epoch;
    options.target_kind = target->sink->slow() ? TargetKind::socket : TargetKind::shared_file;
    // The sink lives as long as its target, and the target as long as any ring.
    sink = std::shared_ptr<Sink>(target, target->sink.get());
  } else if (from.Get("descriptor").IsNumber()) {
    options.target_kind = TargetKind::socket;
    const int descriptor = static_cast<int>(number_of(from, "descriptor", -1));
    sink = PipeSink::create(options.target, descriptor, &failure);
    if (sink) {
      sink->join(TargetGroup::of(options.target));
      sink->hold();
    }
  } else {
    const std::string preamble = bytes_of(from, "preamble");
    options.base_offset = preamble.size();
    sink = OwnFileSink::create(options.target, preamble, &failure, file_mode_of(from));
    if (sink) {
      const std::string group = text_of(from, "group");
      sink->join(TargetGroup::of(group.empty() ? options.target : group));
      sink->hold();
    }
  }
  const std::shared_ptr<Ring> ring =
      sink ? Ring::open(options, sink, DrainThread::instance(), &failure) : nullptr;
  if (!ring) {
    // A stream that never began leaves no file.
    if (sink && options.target_kind == TargetKind::own_file) unlink_file(options.target);
    if (!directory.empty()) remove_directory(directory);
    if (sink) {
      sink->let_go();
      if (sink->abandoned()) sink->discard_unused();
    }
    throw_failure(env, failure);
    return env.Undefined();
  }

  return opened_ring(env, ring, flag_of(from, "words"));
}

// openWaiting(ring): where the records of a ring wait.
Napi::Value open_waiting(const Napi::CallbackInfo& info) {
  const Environment& all = environment(info.Env());
  const size_t id = info[0].As<Napi::Number>().Uint32Value();
  if (id >= all.rings.size() || !all.rings[id]) return info.Env().Undefined();
  const std::shared_ptr<Ring> ring = Ring::open_waiting(all.rings[id]);
  return ring ? opened_ring(info.Env(), ring, false) : info.Env().Undefined();
}

Ring* ring_argument(const Napi::CallbackInfo& info) {
  const Environment& all = environment(info.Env());
  const size_t id = info[0].As<Napi::Number>().Uint32Value();
  return id < all.rings.size() && all.rings[id] ? all.rings[id].get() : Ring::closed_ring();
}

Napi::Value make_room(const Napi::CallbackInfo& info) {
  const int64_t room = ring_argument(info)->make_room(info[1].As<Napi::Number>().Uint32Value());
  return Napi::Number::New(info.Env(), static_cast<double>(room));
}

Napi::Value commit_as_is(const Napi::CallbackInfo& info) {
  ring_argument(info)->commit_as_is();
  return info.Env().Undefined();
}

Napi::Value commit_explicit(const Napi::CallbackInfo& info) {
  const uint32_t last_record = info[1].As<Napi::Number>().Uint32Value();
  const bool unordered = info[2].As<Napi::Boolean>();
  return Napi::Boolean::New(info.Env(),
                            ring_argument(info)->commit_explicit(last_record, unordered));
}

Napi::Value flush_ring(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), ring_argument(info)->flush());
}

Napi::Value attend_ring(const Napi::CallbackInfo& info) {
  ring_argument(info)->attend();
  return info.Env().Undefined();
}

// growOpenRecords(ring): how many places there are then.
Napi::Value grow_open_records(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), ring_argument(info)->grow_open_records());
}

// writeThrough(ring, head, body, stamped, unordered)
[[gnu::cold]] Napi::Value write_through(const Napi::CallbackInfo& info) {
  Napi::Uint8Array head = info[1].As<Napi::Uint8Array>();
  Napi::Uint8Array body = info[2].As<Napi::Uint8Array>();
  Failure failure;
  const bool stamped = info[3].As<Napi::Boolean>();
  const bool unordered = info[4].As<Napi::Boolean>();
  const bool written = ring_argument(info)->write_through(
      head.Data(), head.ByteLength(), body.Data(), body.ByteLength(), stamped, &failure, unordered);
  if (!written) throw_failure(info.Env(), failure);
  return info.Env().Undefined();
}

// setEndMetadata(ring, keys, texts, whole, due): pieces of the metadata with which the stream ends.
Napi::Value set_end_metadata(const Napi::CallbackInfo& info) {
  const Napi::Array keys = info[1].As<Napi::Array>();
  const Napi::Array texts = info[2].As<Napi::Array>();
  std::map<double, std::string> pieces;
  for (uint32_t i = 0; i < keys.Length(); ++i) {
    const Napi::Value key = keys.Get(i);
    const Napi::Value text = texts.Get(i);
    // A thread that is being terminated cannot read them any more.
    if (!key.IsNumber() || !text.IsString()) return info.Env().Undefined();
    pieces[key.As<Napi::Number>().DoubleValue()] = string_of(text);
  }
  ring_argument(info)->set_end_metadata(std::move(pieces), info[3].As<Napi::Boolean>(),
                                        info[4].As<Napi::Boolean>());
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

[[gnu::cold]] Napi::Value wait_drained(const Napi::CallbackInfo& info) {
  const Environment& all = environment(info.Env());
  const size_t id = info[0].As<Napi::Number>().Uint32Value();
  if (id >= all.rings.size() || !all.rings[id]) {
    const auto deferred = Napi::Promise::Deferred::New(info.Env());
    deferred.Resolve(Napi::Boolean::New(info.Env(), true));
    return deferred.Promise();
  }
  const uint32_t limit_ms = info[1].As<Napi::Number>().Uint32Value();
  // A worker that is made meanwhile has no resource, and brings the process down.
  if (info.Env().IsExceptionPending()) return {};
  auto* wait = new DrainWait(info.Env(), all.rings[id], limit_ms);
  const Napi::Promise promise = wait->promise();
  wait->Queue();
  return promise;
}

Napi::Value in_place(const Napi::CallbackInfo& info) {
  const Ring* const ring = ring_argument(info);
  return Napi::Boolean::New(info.Env(), ring->sink() && ring->sink()->in_place());
}

Napi::Value ring_counts(const Napi::CallbackInfo& info) {
  Ring* ring = ring_argument(info);
  if (!ring->sink()) return info.Env().Undefined();
  Napi::Object result = sink_counts_object(info.Env(), sink_of(*ring));
  result["committedBytes"] = Napi::Number::New(info.Env(), static_cast<double>(ring->head()));
  result["pendingBytes"] =
      Napi::Number::New(info.Env(), static_cast<double>(ring->head() - ring->tail()));
  return result;
}

// The ring with this number, if records wait in it; or null.
Ring* waiting_ring(const Napi::Value& id) {
  const Environment& all = environment(id.Env());
  const size_t at = id.As<Napi::Number>().Uint32Value();
  const bool exists = at < all.rings.size() && all.rings[at] && all.rings[at]->waits();
  return exists ? all.rings[at].get() : nullptr;
}

template <typename T>
constexpr napi_typedarray_type kTypeOf = napi_int32_array;
template <>
constexpr napi_typedarray_type kTypeOf<double> = napi_float64_array;

// An array of an object; null: it is not there, or has fewer elements.
template <typename T>
T* array_of(const Napi::Object& from, const char* name, size_t least) {
  napi_typedarray_type type = napi_int8_array;
  size_t length = 0;
  void* data = nullptr;
  const napi_status status =
      napi_get_typedarray_info(from.Env(), from.Get(name), &type, &length, &data, nullptr, nullptr);
  const bool fits = status == napi_ok && type == kTypeOf<T> && length >= least;
  return fits ? static_cast<T*>(data) : nullptr;
}

// indexWaiting(ring, shared, format): the functions that `kWaitingNames` names.
[[gnu::cold]] Napi::Value index_waiting(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Ring* const ring = waiting_ring(info[0]);
  if (ring == nullptr || ring->options().stamp != Stamp::big) return env.Undefined();
  if (!info[1].IsObject() || !info[2].IsObject()) return env.Undefined();
  const Napi::Object from = info[1].As<Napi::Object>();
  const size_t groups = ring->options().waiting_groups;
  WaitingShared shared;
  shared.words = array_of<int32_t>(from, "words", WaitingShared::kWords);
  shared.times = array_of<double>(from, "times", WaitingShared::kTimes);
  shared.flags = array_of<int32_t>(from, "flags", groups);
  shared.roots = array_of<int32_t>(from, "roots", groups);
  shared.free_slots = array_of<int32_t>(from, "freeSlots", ring->open_records().places());
  const bool fits = shared.words != nullptr && shared.times != nullptr && shared.flags != nullptr &&
                    shared.roots != nullptr && shared.free_slots != nullptr;
  if (!fits) return env.Undefined();
  const Napi::Object of_record = info[2].As<Napi::Object>();
  const auto number = [&](const char* name) {
    return static_cast<uint32_t>(number_of(of_record, name, 0));
  };
  WaitingFormat format;
  format.decided = static_cast<int32_t>(number("decided"));
  format.link_at = number("linkAt");
  format.start_at = number("startAt");
  format.name_at = number("nameAt");
  format.word_after_name = number("wordAfterName");
  format.reason_after_name = number("reasonAfterName");
  format.failed_bit = number("failedBit");
  format.chosen_mask = number("chosenMask");
  format.variant_shift = number("variantShift");
  format.late = static_cast<int64_t>(number_of(of_record, "late", 0));
  ring->index_waiting(shared, format);
  const WaitingFunctions functions = environment(env).slots.assign_waiting(env, ring);
  Napi::Object result = Napi::Object::New(env);
  for (size_t i = 0; i < kWaitingCalls; ++i) {
    result[kWaitingNames[i]] = Napi::Value(env, functions[i]);
  }
  return result;
}

// countWaiting(ring, kind, counts): has the records of a kind counted there.
Napi::Value count_waiting(const Napi::CallbackInfo& info) {
  Ring* const ring = waiting_ring(info[0]);
  Napi::Uint8Array bytes = info[2].As<Napi::Uint8Array>();
  if (ring != nullptr && ring->waiting_index() && bytes.ByteLength() >= WaitingCounts::kBytes) {
    auto* const counts = reinterpret_cast<WaitingCounts*>(bytes.Data());
    ring->waiting_index()->count_in(info[1].As<Napi::Number>().Uint32Value(), counts);
  }
  return info.Env().Undefined();
}

template <typename Number>
Number waiting_argument(const Napi::Value& value) {
  if (value.IsBoolean()) return static_cast<Number>(value.As<Napi::Boolean>().Value());
  return static_cast<Number>(value.As<Napi::Number>().Int64Value());
}

// A method of a ring in which records wait, with the numbers that JavaScript gives after the ring.
template <auto kMethod>
struct WaitingMethod;
template <typename Result, typename... Numbers, Result (Ring::*kMethod)(Numbers...)>
struct WaitingMethod<kMethod> {
  static Napi::Value call(const Napi::CallbackInfo& info) {
    Ring* const ring = waiting_ring(info[0]);
    if (ring == nullptr) return Napi::Number::New(info.Env(), 0);
    return answer(info, ring, std::index_sequence_for<Numbers...>());
  }

 private:
  template <size_t... kAt>
  static Napi::Value answer(const Napi::CallbackInfo& info, Ring* ring,
                            std::index_sequence<kAt...>) {
    if constexpr (std::is_void_v<Result>) {
      (ring->*kMethod)(waiting_argument<Numbers>(info[kAt + 1])...);
      return info.Env().Undefined();
    } else {
      return Napi::Value::From(info.Env(),
                               (ring->*kMethod)(waiting_argument<Numbers>(info[kAt + 1])...));
    }
  }
};

}  // namespace

void add_ring_calls(Napi::Object exports) {
  const auto put = [&](const char* name, Call call) { add_call(exports, name, call); };
  put("mapPagesLate", map_pages_late);
  put("openRing", open_ring);
  put("openWaiting", open_waiting);
  put("makeRoom", make_room);
  put("commitAsIs", commit_as_is);
  put("indexWaiting", index_waiting);
  put("countWaiting", count_waiting);
  put("learnWaiting", WaitingMethod<&Ring::learn_waiting>::call);
  put("copyWaiting", WaitingMethod<&Ring::copy_waiting>::call);
  put("relieveSlots", WaitingMethod<&Ring::relieve_slots>::call);
  put("dropWaiting", WaitingMethod<&Ring::drop_waiting>::call);
  put("forgetWaiting", WaitingMethod<&Ring::forget_waiting>::call);
  put("isOver", WaitingMethod<&Ring::is_over>::call);
  put("reclaimWaiting", WaitingMethod<&Ring::reclaim_waiting>::call);
  put("moveWaiting", WaitingMethod<&Ring::move_waiting>::call);
  put("commitExplicit", commit_explicit);
  put("flush", flush_ring);
  put("attend", attend_ring);
  put("growOpenRecords", grow_open_records);
  put("writeThrough", write_through);
  put("setEndMetadata", set_end_metadata);
  put("finish", finish_ring);
  put("waitDrained", wait_drained);
  put("inPlace", in_place);
  put("ringCounts", ring_counts);
}

}  // namespace tracewright
