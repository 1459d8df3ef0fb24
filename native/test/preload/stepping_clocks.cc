// Preloaded by tests: adds to the clocks what the file named by TRACEWRIGHT_TEST_CLOCKS says,
// three numbers of seconds: for CLOCK_MONOTONIC, CLOCK_REALTIME and CLOCK_BOOTTIME.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

extern "C" int clock_gettime(clockid_t clock, struct timespec* to) {
  using Call = int (*)(clockid_t, struct timespec*);
  static const Call call = reinterpret_cast<Call>(dlsym(RTLD_NEXT, "clock_gettime"));
  const int result = call(clock, to);
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
