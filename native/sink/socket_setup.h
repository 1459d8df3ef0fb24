#pragma once

#include "file/file_descriptor.h"
#include "sink/network_address.h"

namespace tracewright {

// A non-blocking, close-on-exec socket of the address's family. It never raises SIGPIPE where that
// can be said of a socket; elsewhere sends say it.
FileDescriptor open_socket(const ResolvedAddress& address, int socket_type);

}  // namespace tracewright
