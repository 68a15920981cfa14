/* Of Darwin. */
#pragma once

#include <stddef.h>

extern int sysctlbyname(const char *name, void *into, size_t *length, void *from, size_t from_length);
