// How many file descriptors a process may still open.
#pragma once

namespace tracewright {

// The soft limit less those that are open. Infinite where the system does not say.
double free_descriptors();

}  // namespace tracewright
