// The counts of a sink, as an object for JavaScript.
#pragma once

#include <napi.h>

#include "sink/sink.h"

namespace tracewright {

[[gnu::cold]] inline Napi::Object sink_counts_object(Napi::Env env, Sink& sink) {
  sink.update_counts();
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
  put("peerRefusedRecords", counts.peer_refused_records);
  put("peerRefusedDatagrams", counts.peer_refused_datagrams);
  put("sentRecords", counts.sent_records);
  put("sentBytes", counts.sent_bytes);
  put("unacknowledgedRecords", counts.unacknowledged_records);
  put("brokenConnections", counts.broken_connections);
  put("doubtfulRecords", counts.doubtful_records);
  put("deletedRecords", counts.deleted_records);
  const Failure failure = sink.last_failure();
  if (failure.error != 0) {
    result["lastError"] = Napi::String::New(env, failure.text());
  }
  return result;
}

}  // namespace tracewright
