#include "sink/socket_setup.h"

#include <fcntl.h>
#include <sys/socket.h>

namespace tracewright {

FileDescriptor open_socket(const ResolvedAddress& address, int socket_type) {
  FileDescriptor fd(socket(address.family, socket_type, 0));
  if (!fd) return fd;
  fcntl(fd.get(), F_SETFD, FD_CLOEXEC);
  fcntl(fd.get(), F_SETFL, fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
#if defined(SO_NOSIGPIPE)
  const int on = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
  return fd;
}

}  // namespace tracewright
