/* Of Darwin. */
#pragma once

struct timespec {
  long tv_sec;
  long tv_nsec;
};
typedef enum { CLOCK_MONOTONIC = 6 } clockid_t;
extern int clock_gettime(clockid_t clock, struct timespec *into);
