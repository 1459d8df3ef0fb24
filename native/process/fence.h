// A fence on all threads of the process, which spares the producers one of their own.
#pragma once

namespace tracewright {

// Registers the process. False where the system has no such fence. It takes some 10 ms.
bool prepare_fence();
// Does nothing before it is prepared.
void fence_all_threads();

}  // namespace tracewright
