/*
 * The values that must outlive the database: `guard.json`, texts as in the state. A change is written to a temporary file,
 * synced and renamed, so that the file is the old or the new one at any moment.
 *
 * A file that is there and cannot be read, such as before the first unlock of the phone, may hold an opt-out. It is read
 * again each time it is asked for, and never written before. Changes wait in memory until then; they are newer than the file.
 * See contracts/cordova-sdk.md §14.4.
 */
#ifndef MLR_GUARD_H
#define MLR_GUARD_H

#include "mlr_map.h"

typedef struct {
  char *folder;
  /** While the file cannot be read: the changes that wait, with their removals. */
  mlr_map values;
  bool is_read;
  /** Why it could not be read: errno. */
  int trouble;
  bool is_on_disk;
} mlr_guard;

/** @return NULL, or why the file cannot be read: what it holds is unknown then */
const char *mlr_guard_trouble(mlr_guard *guard);
/** @return NULL when there is none, or none is known */
const mlr_text *mlr_guard_value(mlr_guard *guard, const char *key);
/**
 * Takes the guarded ones of these changes. They hold for this process even when the file cannot be written.
 *
 * @return NULL, or why it could not be written, or not yet
 */
const char *mlr_guard_put(mlr_guard *guard, const mlr_map *changes);
/** Whether one of these changes is guarded. */
bool mlr_guard_takes(const mlr_map *changes);
void mlr_guard_free(mlr_guard *guard);

#endif
