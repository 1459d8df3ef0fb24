// The file of a ring: whose it is, that its process lives, and its blocks on the disk.
#pragma once

#include <cstddef>
#include <string>

#include "file/file_descriptor.h"

namespace tracewright {

// Memory without a name, for a ring that nobody recovers.
FileDescriptor anonymous_ring_file();

// A new file that says whose it is from the moment at which it has a name, where the file system
// can: a process may die before its ring is ready, and what it leaves then must be nobody's.
FileDescriptor named_ring_file(const std::string& path);

// Allocates the blocks of [from, to) for real: a full disk must be found here, not by a fault in
// the middle of a record.
bool allocate_ring_blocks(int fd, size_t from, size_t to);

// Locks the ring's file that is open as `fd` as long as it is mapped, and so exactly as long as
// the process lives: who cannot see its pid, as from another container, sees that by the lock. A
// file system without locks leaves the identity.
void hold_ring_file(int fd);
// Whether a process has the ring mapped whose file is open as `fd`.
bool is_ring_file_held(int fd);

}  // namespace tracewright
