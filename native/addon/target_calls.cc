#include <cerrno>
#include <memory>
#include <string>

#include "addon/arguments.h"
#include "addon/calls.h"
#include "addon/sink_counts.h"
#include "addon/target_value.h"
#include "drain/drain_thread.h"
#include "sink/datagram_sink.h"
#include "sink/file_sink.h"
#include "sink/shared_target.h"
#include "sink/stream_sink.h"
#include "sink/target_group.h"

namespace tracewright {

namespace {

// `digits` is read last: 0 if the thread is being terminated, and something could not be read.
PieceNames piece_names_of(const Napi::Object& options) {
  const Napi::Value value = options.Get("pieces");
  PieceNames names;
  if (!value.IsObject()) return names;
  const Napi::Object given = value.As<Napi::Object>();
  names.before = text_of(given, "before");
  names.after = text_of(given, "after");
  names.rings = text_of(given, "rings");
  names.rings_before = text_of(given, "ringsBefore");
  names.rings_after = text_of(given, "ringsAfter");
  names.digits = static_cast<int>(number_of(given, "digits", 0));
  return names;
}

// joinTarget({ key, kind, path | host, port, preamble, datagramBytes, replace, epoch })
Napi::Value join_target_call(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Napi::Object options = info[0].As<Napi::Object>();
  const std::string kind = text_of(options, "kind");
  const std::string path = text_of(options, "path");
  const std::string preamble = bytes_of(options, "preamble");
  bool created = false;
  const auto make = [&](Failure* failure) {
    auto target = std::make_shared<SharedTarget>();
    bool lossless = true;
    target->epoch = options.Get("epoch").As<Napi::BigInt>().Uint64Value(&lossless);
    if (kind.empty()) {
      // The thread is being terminated: nothing can be read from it any more.
      failure->set("open", "a target", ECANCELED);
    } else if (kind == "file") {
      SizeLimits limits;
      limits.rotate_bytes = static_cast<uint64_t>(number_of(options, "rotateBytes", 0));
      limits.keep_bytes = static_cast<uint64_t>(number_of(options, "keepBytes", 0));
      if (limits.rotate_bytes > 0) limits.pieces = piece_names_of(options);
      if (limits.rotate_bytes > 0 && limits.pieces.digits == 0) {
        // As above.
        failure->set("open", "a target", ECANCELED);
      } else {
        target->sink = SharedFileSink::create(path, preamble, flag_of(options, "replace"), limits,
                                              failure, file_mode_of(options));
      }
    } else if (kind == "udp") {
      const double datagram = number_of(options, "datagramBytes", 1400);
      target->sink = std::make_shared<DatagramSink>(
          NetworkAddress{text_of(options, "host"), text_of(options, "port")}, preamble,
          static_cast<size_t>(datagram));
    } else {
      const NetworkAddress address =
          kind == "unix" ? NetworkAddress{path, ""}
                         : NetworkAddress{text_of(options, "host"), text_of(options, "port")};
      target->sink = std::make_shared<StreamSink>(address, preamble);
    }
    if (target->sink) {
      target->sink->join(TargetGroup::of(text_of(options, "key")));
    } else {
      target.reset();
    }
    created = true;
    return target;
  };
  Failure failure;
  const std::shared_ptr<SharedTarget> target = join_target(text_of(options, "key"), make, &failure);
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
  result["created"] = Napi::Boolean::New(env, created);
  result["epoch"] = Napi::BigInt::New(env, target->epoch);
  return result;
}

Napi::Value keep_target_call(const Napi::CallbackInfo& info) {
  keep_target(string_of(info[0]));
  return info.Env().Undefined();
}

// takeNumber(target, wanted?): -1 when that one is taken
Napi::Value take_number(const Napi::CallbackInfo& info) {
  const std::shared_ptr<SharedTarget> target = target_of(info[0]);
  const uint32_t wanted = info[1].IsNumber() ? info[1].As<Napi::Number>().Uint32Value() : 0;
  const int64_t number = target->take_number(info[1].IsNumber() ? &wanted : nullptr);
  return Napi::Number::New(info.Env(), static_cast<double>(number));
}

// define(target, key)
Napi::Value define_call(const Napi::CallbackInfo& info) {
  const std::shared_ptr<SharedTarget> target = target_of(info[0]);
  return Napi::Number::New(info.Env(), target->define(string_of(info[1])));
}

// repeatDefinition(target, number, packet)
Napi::Value repeat_definition_call(const Napi::CallbackInfo& info) {
  const std::shared_ptr<SharedTarget> target = target_of(info[0]);
  const Napi::Uint8Array packet = info[2].As<Napi::Uint8Array>();
  const std::string bytes(reinterpret_cast<const char*>(packet.Data()), packet.ByteLength());
  const uint32_t number = info[1].As<Napi::Number>();
  return Napi::Boolean::New(info.Env(), target->repeat_definition(number, bytes));
}

// Of a target: all rings of the process that feed it, those that are gone included.
Napi::Value target_counts(const Napi::CallbackInfo& info) {
  const std::shared_ptr<SharedTarget> target = target_of(info[0]);
  Sink& sink = *target->sink;
  Napi::Object result;
  const Backlog backlog = DrainThread::instance().backlog_of(
      [&](const Ring& each) { return each.sink().get() == &sink; },
      [&] { result = sink_counts_object(info.Env(), sink); });
  const auto put = [&](const char* name, double value) {
    result[name] = Napi::Number::New(info.Env(), value);
  };
  put("pendingRecords", static_cast<double>(backlog.records));
  put("pendingBytes", static_cast<double>(backlog.bytes));
  put("droppedRecords", backlog.dropped + sink.counts().dropped_records.load());
  put("refusedRecords", backlog.refused + sink.counts().refused_records.load());
  put("openRecords", static_cast<double>(backlog.open));
  put("unkeptRecords", backlog.unkept + sink.counts().unkept_records.load());
  return result;
}

}  // namespace

void add_target_calls(Napi::Object exports) {
  const auto put = [&](const char* name, Call call) { add_call(exports, name, call); };
  put("joinTarget", join_target_call);
  put("keepTarget", keep_target_call);
  put("takeNumber", take_number);
  put("targetCounts", target_counts);
  put("define", define_call);
  put("repeatDefinition", repeat_definition_call);
}

}  // namespace tracewright
