/*
 * The queue and the state: in SQLite, and in memory as far as SQLite fails.
 *
 * What a failure does is in `attempt` and `mend`: it is reported, mended once where that may help, and otherwise the rest of
 * this process goes on in memory. Rows that are in the database by then are still sent; those in memory never move into it.
 * State kept in memory is written with the next transaction that succeeds. See contracts/cordova-sdk.md §14, §21.
 */
#ifndef MLR_STORE_H
#define MLR_STORE_H

#include "mlr_database.h"
#include "mlr_memory_queue.h"

typedef struct {
  char *folder;
  /** Hears of each failure, also of those that were mended. */
  void (*failed)(void *self, const char *code, const char *detail);
  /** So many of the oldest events were deleted, because the disk is full. */
  void (*lost)(void *self, int64_t events);
  void *self;

  mlr_memory_queue memory;
  /** State that is not in the database. */
  mlr_map overlay;
  /** Ids of rows that are done with and could not be deleted, in order: not sent again by this process. */
  int64_t *done;
  size_t done_count;
  mlr_database database;
  /** Counts the files that there were: the id of a row means nothing in another one. */
  int generation;
  /** Rows before this one are done with, or of write keys that were passed over: they are not read for each batch. */
  int64_t from;
  size_t passed_over;
  /** The newest row that a request may have carried before: of an earlier process, or of this one; and of those in memory. */
  int64_t tried_up_to;
  int64_t tried_in_memory;
  bool was_opened;
  bool is_open;
  bool is_in_memory;
} mlr_store;

/** Files that could not be opened may be readable now: they are opened again, unless a row is only in memory. */
void mlr_store_look_again(mlr_store *store);
/** `sqlite` or `memory` */
const char *mlr_store_kind(mlr_store *store);
/** Rows of all write keys, in database and memory. */
int64_t mlr_store_count(mlr_store *store);
/** @param into gets the key where it has a value @return that value, or NULL */
const mlr_text *mlr_store_value(mlr_store *store, const char *key, mlr_map *into);
/** Of a value in digits; 0 where there is none. */
int64_t mlr_store_counter(mlr_store *store, const char *key);
void mlr_store_state(mlr_store *store, mlr_map *into);

/** @param change its ids of removed rows are not looked at @return whether these rows or values are only in memory */
bool mlr_store_commit(mlr_store *store, const mlr_change *change);
bool mlr_store_commit_state(mlr_store *store, const mlr_map *state);
/** A request with these rows begins. @return whether one may have carried some of them before */
bool mlr_store_begin(mlr_store *store, const mlr_row *rows, size_t count);
/** Rows that are done with leave, and the state changes with them. */
void mlr_store_remove(mlr_store *store, const mlr_row *rows, size_t count, const mlr_map *state);
/** Every row leaves, from the disk as well. */
void mlr_store_purge(mlr_store *store, const mlr_map *state);
/**
 * The oldest rows of one write key, as many as there is room for.
 *
 * @param passed_over write keys that do not count; there are more each time, or none
 */
void mlr_store_oldest(mlr_store *store, const mlr_map *passed_over, mlr_room room, mlr_rows *into);

/** Closes its file; what it remembers is freed. */
void mlr_store_free(mlr_store *store);

#endif
