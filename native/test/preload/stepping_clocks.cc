// Preloaded by tests: adds to the clocks what the file named by TRACEWRIGHT_TEST_CLOCKS says,
// three numbers of seconds: for CLOCK_MONOTONIC, CLOCK_REALTIME and CLOCK_BOOTTIME. With
// TRACEWRIGHT_TEST_PAUSE, a number of microseconds, some readings of CLOCK_MONOTONIC take so long,
// as if the thread was preempted before or after them.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

namespace {

// Of all threads.
unsigned readings = 0;

void pause_at(unsigned number) {
  const char* const pause = getenv("TRACEWRIGHT_TEST_PAUSE");
  if (pause == nullptr) return;
  if (__atomic_load_n(&readings, __ATOMIC_RELAXED) % 11 == number) {
    usleep(static_cast<unsigned>(atoi(pause)));
  }
}

}  // namespace

extern "C" int clock_gettime(clockid_t clock, struct timespec* to) {
  using Call = int (*)(clockid_t, struct timespec*);
  static const Call call = reinterpret_cast<Call>(dlsym(RTLD_NEXT, "clock_gettime"));
  const bool pauses = clock == CLOCK_MONOTONIC;
  if (pauses) __atomic_fetch_add(&readings, 1, __ATOMIC_RELAXED);
  if (pauses) pause_at(3);
  const int result = call(clock, to);
  if (pauses) pause_at(7);
  const int place = clock == CLOCK_MONOTONIC  ? 0
                    : clock == CLOCK_REALTIME ? 1
                    : clock == CLOCK_BOOTTIME ? 2
                                              : -1;
  const char* const path = getenv("TRACEWRIGHT_TEST_CLOCKS");
  FILE* const file = place == -1 || path == nullptr ? nullptr : fopen(path, "r");
  if (file == nullptr) return result;
  long seconds[3] = {0, 0, 0};
  if (fscanf(file, "%ld %ld %ld", &seconds[0], &seconds[1], &seconds[2]) == 3) {
    to->tv_sec += seconds[place];
  }
  fclose(file);
  return result;
}
