/*
 * The values that must outlive the database: `guard.json`, texts as in the state. A change is written to a temporary file,
 * synced and renamed, so that the file is the old or the new one at any moment. See contracts/cordova-sdk.md §14.4.
 */
#ifndef MLR_GUARD_H
#define MLR_GUARD_H

#include "mlr_map.h"

typedef struct {
  char *folder;
  mlr_map values;
  bool is_read;
  bool is_on_disk;
} mlr_guard;

/** @return NULL when there is none */
const mlr_text *mlr_guard_value(mlr_guard *guard, const char *key);
/**
 * Takes the guarded ones of these changes. They hold for this process even when the file cannot be written.
 *
 * @return NULL, or why it could not be written
 */
const char *mlr_guard_put(mlr_guard *guard, const mlr_map *changes);
void mlr_guard_free(mlr_guard *guard);

#endif
