#include "sink/sink.h"

namespace tracewright {

bool Sink::append(Ring&, const uint8_t*, size_t, const uint8_t*, size_t, Failure* failure) {
  failure->set("append to", "a socket", EMSGSIZE);
  return false;
}

}  // namespace tracewright
