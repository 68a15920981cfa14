#include "faulty_vfs.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { BUSY_TIMEOUT_US = 3000000 };

/** A file of ours, behind which the real one lies. */
typedef struct {
  sqlite3_file base;
  sqlite3_file *real;
  bool is_log;
} faulty_file;

static char fault[32] = "";
/** Since the lock was wanted. SQLite waits by `xSleep`; here that takes no time. */
static int slept_us;

static bool is(const char *kind) {
  return strncmp(fault, kind, strlen(kind)) == 0;
}

/** One that comes once is over when it has come; one that comes twice is then one that comes once. */
static int failed(int code) {
  char *twice = strstr(fault, "-twice");
  if (strstr(fault, "-once") != NULL) fault[0] = 0;
  if (twice != NULL) strcpy(twice, "-once");
  return code;
}

static sqlite3_file *real(sqlite3_file *file) {
  return ((faulty_file *)file)->real;
}

static int close_file(sqlite3_file *file) {
  return real(file)->pMethods->xClose(real(file));
}

static int read_file(sqlite3_file *file, void *into, int bytes, sqlite3_int64 from) {
  return real(file)->pMethods->xRead(real(file), into, bytes, from);
}

static int write_file(sqlite3_file *file, const void *from, int bytes, sqlite3_int64 to) {
  // What is written to the file itself is a copy of the log; where a transaction needs room is there.
  if (is("full") && ((faulty_file *)file)->is_log) return failed(SQLITE_FULL);
  if (is("readonly")) return failed(SQLITE_READONLY);
  if (is("io")) return failed(SQLITE_IOERR_WRITE);
  return real(file)->pMethods->xWrite(real(file), from, bytes, to);
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 bytes) {
  return real(file)->pMethods->xTruncate(real(file), bytes);
}

static int sync_file(sqlite3_file *file, int flags) {
  return real(file)->pMethods->xSync(real(file), flags);
}

static int file_size(sqlite3_file *file, sqlite3_int64 *bytes) {
  return real(file)->pMethods->xFileSize(real(file), bytes);
}

static int lock(sqlite3_file *file, int level) {
  return real(file)->pMethods->xLock(real(file), level);
}

static int unlock(sqlite3_file *file, int level) {
  return real(file)->pMethods->xUnlock(real(file), level);
}

static int check_lock(sqlite3_file *file, int *is_reserved) {
  return real(file)->pMethods->xCheckReservedLock(real(file), is_reserved);
}

static int control(sqlite3_file *file, int operation, void *argument) {
  return real(file)->pMethods->xFileControl(real(file), operation, argument);
}

static int sector_size(sqlite3_file *file) {
  return real(file)->pMethods->xSectorSize(real(file));
}

static int characteristics(sqlite3_file *file) {
  return real(file)->pMethods->xDeviceCharacteristics(real(file));
}

static int map_shared(sqlite3_file *file, int region, int bytes, int extends, void volatile **at) {
  return real(file)->pMethods->xShmMap(real(file), region, bytes, extends, at);
}

static int lock_shared(sqlite3_file *file, int offset, int count, int flags) {
  bool is_for_writing = offset == 0 && flags == (SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE);
  if (is_for_writing && is("busy")) {
    if (slept_us < BUSY_TIMEOUT_US) return SQLITE_BUSY;
    slept_us = 0;
    return failed(SQLITE_BUSY);
  }
  return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}

static void order_shared(sqlite3_file *file) {
  real(file)->pMethods->xShmBarrier(real(file));
}

static int unmap_shared(sqlite3_file *file, int deletes) {
  return real(file)->pMethods->xShmUnmap(real(file), deletes);
}

static const sqlite3_io_methods METHODS = {
    .iVersion = 2,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = file_size,
    .xLock = lock,
    .xUnlock = unlock,
    .xCheckReservedLock = check_lock,
    .xFileControl = control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
    .xShmMap = map_shared,
    .xShmLock = lock_shared,
    .xShmBarrier = order_shared,
    .xShmUnmap = unmap_shared,
};

static sqlite3_vfs *system_vfs;

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *got) {
  (void)vfs;
  faulty_file *ours = (faulty_file *)file;
  ours->base.pMethods = NULL;
  if (is("open") && (flags & SQLITE_OPEN_MAIN_DB)) return failed(SQLITE_CANTOPEN);
  ours->real = (sqlite3_file *)(ours + 1);
  ours->is_log = flags & SQLITE_OPEN_WAL;
  int code = system_vfs->xOpen(system_vfs, name, ours->real, flags, got);
  if (ours->real->pMethods != NULL) ours->base.pMethods = &METHODS;
  return code;
}

static int sleep_not(sqlite3_vfs *vfs, int microseconds) {
  (void)vfs;
  slept_us += microseconds;
  return microseconds;
}

void use_faulty_vfs(void) {
  static sqlite3_vfs ours;
  system_vfs = sqlite3_vfs_find(NULL);
  ours = *system_vfs;
  ours.zName = "faulty";
  ours.szOsFile = (int)sizeof(faulty_file) + system_vfs->szOsFile;
  ours.xOpen = open_file;
  ours.xSleep = sleep_not;
  sqlite3_vfs_register(&ours, 1);
}

void set_fault(const char *kind) {
  slept_us = 0;
  snprintf(fault, sizeof fault, "%s", kind);
}
