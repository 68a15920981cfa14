/*
 * The SQLite file: statements only. What fails is told; mlr_store decides what to do about it. No statement here is newer than
 * SQLite 3.9. See contracts/cordova-sdk.md §14.1.
 */
#ifndef MLR_DATABASE_H
#define MLR_DATABASE_H

#include <sqlite3.h>

#include "mlr_map.h"
#include "mlr_row.h"

/** The kinds of failure that differ in what is done about them: contracts/cordova-sdk.md §21. */
typedef enum {
  MLR_FINE,
  MLR_CANNOT_OPEN,
  MLR_READ_ONLY,
  MLR_FULL,
  MLR_BUSY,
  MLR_CORRUPT,
  MLR_NO_TABLE,
  MLR_NEWER,
  MLR_IO
} mlr_failure;

/** What one transaction does: all of it or nothing. */
typedef struct {
  mlr_map state;
  /** Texts of new events under `write_key`, in order. */
  const mlr_text *added;
  size_t added_count;
  mlr_text write_key;
  /** Beyond so many rows the oldest leave, counted in the state under `trimmed`. */
  int64_t keep_at_most;
  /** Ids of rows that are done with, in order. */
  const int64_t *removed;
  size_t removed_count;
} mlr_change;

typedef struct {
  sqlite3 *file;
  /** Kept here because counting reads the whole table; below 0: not counted yet. */
  int64_t count;
  /** Of the latest failure. */
  mlr_text detail;
} mlr_database;

typedef enum { MLR_PASS, MLR_TAKE, MLR_STOP } mlr_choice;

typedef mlr_choice mlr_choose(void *self, int64_t id, const mlr_text *write_key, size_t size);

/** @param database filled also when that fails, for its detail; to be closed in either case */
mlr_failure mlr_database_open(mlr_database *database, const char *path);
void mlr_database_close(mlr_database *database);

mlr_failure mlr_database_count(mlr_database *database);
/** Id of the newest row; 0 without any. */
mlr_failure mlr_database_newest(mlr_database *database, int64_t *into);
mlr_failure mlr_database_apply(mlr_database *database, const mlr_change *change);
mlr_failure mlr_database_create_missing_tables(mlr_database *database);
/** Makes room on a full disk. @param dropped rows that left */
mlr_failure mlr_database_drop_oldest_tenth(mlr_database *database, int64_t *dropped);
/** What the log holds goes into the file itself. */
mlr_failure mlr_database_empty_log(mlr_database *database);
/** All rows, and from the disk as well. */
mlr_failure mlr_database_remove_all(mlr_database *database, const mlr_map *state);
/** @param into gets the key where it has a value */
mlr_failure mlr_database_value(mlr_database *database, const char *key, mlr_map *into);
mlr_failure mlr_database_state(mlr_database *database, mlr_map *into);
/** @param from the least id @param choose is asked of each row, oldest first; those that it takes are read */
mlr_failure mlr_database_choose(
    mlr_database *database, int64_t from, mlr_choose *choose, void *self, int generation, mlr_rows *into);

#endif
