#include "mlr_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mlr_files.h"

static const int64_t NO_BOUND = INT64_MAX;
static const char *const SET_ASIDE[] = {"events.corrupt", "events.newer"};
static const char *const PARTS[] = {"", "-wal", "-shm", "-journal"};

typedef mlr_failure query(mlr_store *store, void *with);

static const char *code_of(mlr_failure failure) {
  switch (failure) {
    case MLR_CANNOT_OPEN:
      return "STORAGE_OPEN";
    case MLR_READ_ONLY:
      return "STORAGE_READONLY";
    case MLR_FULL:
      return "STORAGE_FULL";
    case MLR_BUSY:
      return "STORAGE_BUSY";
    case MLR_CORRUPT:
    case MLR_NO_TABLE:
      return "STORAGE_CORRUPT";
    case MLR_NEWER:
      return "STORAGE_NEWER";
    case MLR_FINE:
    case MLR_IO:
      break;
  }
  return "STORAGE_IO";
}

static mlr_failure report(mlr_store *store, mlr_failure failure) {
  const char *detail = store->database.detail.at;
  if (failure != MLR_FINE) store->failed(store->self, code_of(failure), detail == NULL ? "" : detail);
  return failure;
}

static void close_file(mlr_store *store) {
  mlr_database_close(&store->database);
  store->is_open = false;
  store->from = 0;
}

static mlr_failure open_file(mlr_store *store) {
  mlr_make_folder(store->folder);
  mlr_text path = mlr_path(store->folder, "events.db");
  mlr_database_close(&store->database);
  mlr_failure failure = mlr_database_open(&store->database, path.at);
  mlr_text_free(&path);
  store->is_open = failure == MLR_FINE;
  return failure;
}

static void delete_files(const mlr_store *store, const char *name) {
  for (size_t at = 0; at < sizeof PARTS / sizeof *PARTS; at++) {
    mlr_text path = mlr_path(store->folder, name);
    mlr_put(&path, PARTS[at]);
    remove(path.at);
    mlr_text_free(&path);
  }
}

static void forget_done(mlr_store *store) {
  free(store->done);
  store->done = NULL;
  store->done_count = 0;
}

/** One such file is kept, so that somebody can look at it; purge deletes it. */
static bool set_aside(mlr_store *store, const char *name) {
  close_file(store);
  store->generation++;
  forget_done(store);
  delete_files(store, name);
  mlr_text from = mlr_path(store->folder, "events.db");
  mlr_text to = mlr_path(store->folder, name);
  bool is_aside = rename(from.at, to.at) == 0;
  mlr_text_free(&from);
  mlr_text_free(&to);
  if (is_aside) delete_files(store, "events.db");
  return is_aside;
}

/** A failure changes nothing but that they wait for the next transaction. */
static void remove_done(mlr_store *store) {
  if (!store->is_open || store->done_count == 0) return;
  mlr_change change = {.removed = store->done, .removed_count = store->done_count, .keep_at_most = NO_BOUND};
  if (report(store, mlr_database_apply(&store->database, &change)) == MLR_FINE) forget_done(store);
}

/** The room that costs no event: that of SQLite's log, and of rows that are done with. */
static void compact(mlr_store *store) {
  report(store, mlr_database_empty_log(&store->database));
  remove_done(store);
}

static bool drop_oldest_tenth(mlr_store *store) {
  int64_t lost = 0;
  bool is_done = report(store, mlr_database_drop_oldest_tenth(&store->database, &lost)) == MLR_FINE;
  if (is_done && lost > 0) store->lost(store->self, lost);
  return is_done;
}

/** @return whether it is worth another try */
static bool mend(mlr_store *store, mlr_failure failure) {
  switch (failure) {
    case MLR_BUSY:
      return true;
    case MLR_FULL:
      return store->is_open && drop_oldest_tenth(store);
    case MLR_NO_TABLE:
      store->from = 0;
      return store->is_open && report(store, mlr_database_create_missing_tables(&store->database)) == MLR_FINE;
    case MLR_IO:
      close_file(store);
      return true;
    case MLR_CORRUPT:
      return set_aside(store, "events.corrupt");
    case MLR_NEWER:
      return set_aside(store, "events.newer");
    case MLR_FINE:
    case MLR_READ_ONLY:
    case MLR_CANNOT_OPEN:
      break;
  }
  return false;
}

/** @return whether the work was done; if not, storage is memory from now on, unless it was only busy */
static bool attempt(mlr_store *store, query *ask, void *with) {
  bool is_compacted = false;
  bool is_mended = false;
  while (true) {
    mlr_failure failure = store->is_open ? MLR_FINE : open_file(store);
    if (failure == MLR_FINE) failure = ask(store, with);
    if (failure == MLR_FINE) return true;
    report(store, failure);
    if (failure == MLR_FULL && store->is_open && !is_compacted) {
      is_compacted = true;
      compact(store);
      continue;
    }
    if (!is_mended && mend(store, failure)) {
      is_mended = true;
      continue;
    }
    store->is_in_memory = failure != MLR_BUSY || !store->is_open;
    return false;
  }
}

static bool read_only(mlr_store *store, query *ask, void *with) {
  if (!store->is_in_memory) return attempt(store, ask, with);
  return store->is_open && report(store, ask(store, with)) == MLR_FINE;
}

static mlr_failure count(mlr_store *store, void *with) {
  (void)with;
  return mlr_database_count(&store->database);
}

static mlr_failure find_newest(mlr_store *store, void *with) {
  (void)with;
  return mlr_database_newest(&store->database, &store->tried_up_to);
}

/** Opens the file, once a process. */
static void open_once(mlr_store *store) {
  if (store->was_opened) return;
  store->was_opened = true;
  attempt(store, count, NULL);
  read_only(store, find_newest, NULL);
}

void mlr_store_look_again(mlr_store *store) {
  if (store->is_open || store->memory.rows.count > 0) return;
  store->was_opened = false;
  store->is_in_memory = false;
}

const char *mlr_store_kind(mlr_store *store) {
  open_once(store);
  return store->is_in_memory ? "memory" : "sqlite";
}

int64_t mlr_store_count(mlr_store *store) {
  open_once(store);
  int64_t in_database = read_only(store, count, NULL) ? store->database.count - (int64_t)store->done_count : 0;
  return in_database + (int64_t)store->memory.rows.count;
}

typedef struct {
  const char *key;
  mlr_map *into;
} lookup;

static mlr_failure look_up(mlr_store *store, void *with) {
  const lookup *wanted = with;
  return mlr_database_value(&store->database, wanted->key, wanted->into);
}

const mlr_text *mlr_store_value(mlr_store *store, const char *key, mlr_map *into) {
  open_once(store);
  const mlr_entry *kept = mlr_map_find(&store->overlay, key);
  lookup wanted = {key, into};
  if (kept == NULL) read_only(store, look_up, &wanted);
  else if (!kept->is_removal) mlr_map_put(into, key, kept->value.at, kept->value.length);
  return mlr_map_value(into, key);
}

int64_t mlr_store_counter(mlr_store *store, const char *key) {
  mlr_map found = {0};
  const mlr_text *value = mlr_store_value(store, key, &found);
  int64_t counter = value == NULL ? 0 : mlr_digits(value->at, value->length);
  mlr_map_clear(&found);
  return counter;
}

static mlr_failure read_all(mlr_store *store, void *with) {
  return mlr_database_state(&store->database, with);
}

void mlr_store_state(mlr_store *store, mlr_map *into) {
  open_once(store);
  read_only(store, read_all, into);
  mlr_map_put_all(into, &store->overlay);
}

static mlr_failure apply(mlr_store *store, void *with) {
  // Attempts may change what is done: a file that was set aside takes its ids with it.
  mlr_change whole = *(const mlr_change *)with;
  whole.removed = store->done;
  whole.removed_count = store->done_count;
  return mlr_database_apply(&store->database, &whole);
}

bool mlr_store_commit(mlr_store *store, const mlr_change *change) {
  open_once(store);
  mlr_change whole = *change;
  whole.state = (mlr_map){0};
  mlr_map_put_all(&whole.state, &store->overlay);
  mlr_map_put_all(&whole.state, &change->state);
  bool is_stored = !store->is_in_memory && attempt(store, apply, &whole);
  mlr_map_clear(&whole.state);
  if (is_stored) {
    mlr_map_clear(&store->overlay);
    forget_done(store);
    return false;
  }
  mlr_map_put_all(&store->overlay, &change->state);
  size_t most = change->keep_at_most > INT32_MAX ? INT32_MAX : (size_t)change->keep_at_most;
  size_t left = mlr_memory_queue_add(&store->memory, &change->write_key, change->added, change->added_count, most);
  if (left > 0) mlr_map_put_number(&store->overlay, "trimmed", mlr_store_counter(store, "trimmed") + (int64_t)left);
  return true;
}

bool mlr_store_commit_state(mlr_store *store, const mlr_map *state) {
  mlr_change change = {.state = *state, .keep_at_most = NO_BOUND};
  return mlr_store_commit(store, &change);
}

static int by_id(const void *one, const void *other) {
  int64_t first = *(const int64_t *)one;
  int64_t second = *(const int64_t *)other;
  return first < second ? -1 : first > second;
}

static bool is_done(const mlr_store *store, int64_t id) {
  return store->done_count > 0 && bsearch(&id, store->done, store->done_count, sizeof id, by_id) != NULL;
}

bool mlr_store_begin(mlr_store *store, const mlr_row *rows, size_t count) {
  bool is_repeat = false;
  for (size_t at = 0; at < count; at++) {
    bool is_in_memory = rows[at].id < 0;
    is_repeat = is_repeat || (is_in_memory ? -rows[at].id <= store->tried_in_memory : rows[at].id <= store->tried_up_to);
  }
  for (size_t at = 0; at < count; at++) {
    int64_t id = rows[at].id;
    if (id < 0 && -id > store->tried_in_memory) store->tried_in_memory = -id;
    if (id > store->tried_up_to) store->tried_up_to = id;
  }
  return is_repeat;
}

void mlr_store_remove(mlr_store *store, const mlr_row *rows, size_t count, const mlr_map *state) {
  open_once(store);
  store->done = mlr_more_memory(store->done, (store->done_count + count + 1) * sizeof *store->done);
  for (size_t at = 0; at < count; at++) {
    if (rows[at].id < 0) mlr_memory_queue_remove(&store->memory, rows[at].id);
    else if (rows[at].generation == store->generation) store->done[store->done_count++] = rows[at].id;
  }
  qsort(store->done, store->done_count, sizeof *store->done, by_id);
  if (state->count == 0) remove_done(store);
  else mlr_store_commit_state(store, state);
}

static mlr_failure remove_all(mlr_store *store, void *with) {
  (void)with;
  return mlr_database_remove_all(&store->database, &store->overlay);
}

void mlr_store_purge(mlr_store *store, const mlr_map *state) {
  open_once(store);
  mlr_memory_queue_clear(&store->memory);
  mlr_map_put_all(&store->overlay, state);
  if (store->is_open && attempt(store, remove_all, NULL)) {
    mlr_map_clear(&store->overlay);
  } else {
    // Deleted must mean gone: the file goes, and the state that can be read comes back in a new one.
    mlr_map kept = {0};
    mlr_store_state(store, &kept);
    close_file(store);
    store->generation++;
    forget_done(store);
    delete_files(store, "events.db");
    mlr_map_put_all(&store->overlay, &kept);
    mlr_map_clear(&kept);
    store->is_in_memory = false;
    mlr_map none = {0};
    mlr_store_commit_state(store, &none);
  }
  forget_done(store);
  for (size_t at = 0; at < sizeof SET_ASIDE / sizeof *SET_ASIDE; at++) delete_files(store, SET_ASIDE[at]);
}

typedef struct {
  mlr_store *store;
  const mlr_map *passed_over;
  mlr_room whole;
  mlr_room left;
  /** Of the batch; NULL: no row has decided it yet. */
  mlr_text *key;
  mlr_rows *into;
} selection;

static mlr_choice choose(void *self, int64_t id, const mlr_text *write_key, size_t size) {
  selection *batch = self;
  bool is_passed = id >= 0 && is_done(batch->store, id);
  if (batch->key->at == NULL) {
    is_passed = is_passed || mlr_map_find(batch->passed_over, write_key->at) != NULL;
    if (is_passed && id >= 0) batch->store->from = id + 1;
  }
  if (is_passed) return MLR_PASS;
  if (batch->key->at == NULL) *batch->key = mlr_text_of(write_key->at, write_key->length);
  if (!mlr_text_equals(batch->key, write_key)) return MLR_PASS;
  return mlr_room_takes(&batch->left, size) ? MLR_TAKE : MLR_STOP;
}

static mlr_failure choose_rows(mlr_store *store, void *with) {
  selection *batch = with;
  mlr_rows_clear(batch->into);
  mlr_text_free(batch->key);
  batch->left = batch->whole;
  return mlr_database_choose(&store->database, store->from, choose, batch, store->generation, batch->into);
}

void mlr_store_oldest(mlr_store *store, const mlr_map *passed_over, mlr_room room, mlr_rows *into) {
  open_once(store);
  if (passed_over->count < store->passed_over) store->from = 0;
  store->passed_over = passed_over->count;
  mlr_text key = {0};
  selection batch = {store, passed_over, room, room, &key, into};
  if (!read_only(store, choose_rows, &batch)) {
    mlr_rows_clear(into);
    mlr_text_free(&key);
    batch.left = room;
  }
  for (size_t at = 0; at < store->memory.rows.count; at++) {
    const mlr_row *row = &store->memory.rows.at[at];
    mlr_choice choice = choose(&batch, row->id, &row->write_key, row->body.length);
    if (choice == MLR_STOP) break;
    if (choice == MLR_TAKE) mlr_rows_add(into, row->id, 0, &row->write_key, row->body.at, row->body.length);
  }
  mlr_text_free(&key);
}

void mlr_store_free(mlr_store *store) {
  close_file(store);
  forget_done(store);
  mlr_memory_queue_clear(&store->memory);
  mlr_map_clear(&store->overlay);
  free(store->folder);
}
