#include "mlr_database.h"

#include <string.h>

enum { VERSION = 1 };

static const char CREATE[] =
    "CREATE TABLE IF NOT EXISTS events(id INTEGER PRIMARY KEY AUTOINCREMENT, write_key TEXT NOT NULL, "
    "size INTEGER NOT NULL, body TEXT NOT NULL);"
    "CREATE TABLE IF NOT EXISTS state(key TEXT PRIMARY KEY, value TEXT NOT NULL);"
    "PRAGMA user_version=1;";

#if defined(SQLITE_OPEN_FILEPROTECTION_COMPLETEUNTILFIRSTUSERAUTHENTICATION)
static const int PROTECTION = SQLITE_OPEN_FILEPROTECTION_COMPLETEUNTILFIRSTUSERAUTHENTICATION;
#else
static const int PROTECTION = 0;
#endif

/** @param code SQLITE_OK, SQLITE_ROW and SQLITE_DONE are fine */
static mlr_failure told(mlr_database *database, int code) {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return MLR_FINE;
  const char *message = database->file == NULL ? sqlite3_errstr(code) : sqlite3_errmsg(database->file);
  mlr_text_free(&database->detail);
  mlr_put(&database->detail, message);
  switch (code & 0xff) {
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return MLR_CANNOT_OPEN;
    case SQLITE_READONLY:
      return MLR_READ_ONLY;
    case SQLITE_FULL:
      return MLR_FULL;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return MLR_BUSY;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return MLR_CORRUPT;
    default:
      return strstr(message, "no such table") != NULL ? MLR_NO_TABLE : MLR_IO;
  }
}

static mlr_failure run(mlr_database *database, const char *statements) {
  return told(database, sqlite3_exec(database->file, statements, NULL, NULL, NULL));
}

static mlr_failure number(mlr_database *database, const char *query, int64_t *into) {
  sqlite3_stmt *statement = NULL;
  int code = sqlite3_prepare_v2(database->file, query, -1, &statement, NULL);
  if (code == SQLITE_OK) code = sqlite3_step(statement);
  if (code == SQLITE_ROW) *into = sqlite3_column_int64(statement, 0);
  mlr_failure failure = told(database, code);
  sqlite3_finalize(statement);
  return failure;
}

static mlr_failure begin(mlr_database *database) {
  return run(database, "BEGIN IMMEDIATE");
}

/** Ends a transaction. On a full disk SQLite has rolled back by itself: the first failure tells. */
static mlr_failure end(mlr_database *database, mlr_failure failure) {
  if (failure == MLR_FINE) failure = run(database, "COMMIT");
  if (failure != MLR_FINE && !sqlite3_get_autocommit(database->file)) {
    sqlite3_exec(database->file, "ROLLBACK", NULL, NULL, NULL);
  }
  return failure;
}

mlr_failure mlr_database_open(mlr_database *database, const char *path) {
  *database = (mlr_database){.count = -1};
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | PROTECTION;
  mlr_failure failure = told(database, sqlite3_open_v2(path, &database->file, flags, NULL));
  if (failure != MLR_FINE) return failure;
  sqlite3_busy_timeout(database->file, 3000);
  int64_t version = 0;
  failure = number(database, "PRAGMA user_version", &version);
  if (failure != MLR_FINE) return failure;
  if (version > VERSION) {
    mlr_put(&database->detail, "user_version ");
    mlr_put_number(&database->detail, version);
    return MLR_NEWER;
  }
  failure = run(database, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA secure_delete=ON;");
  if (failure != MLR_FINE || version == VERSION) return failure;
  failure = begin(database);
  return failure == MLR_FINE ? end(database, run(database, CREATE)) : failure;
}

void mlr_database_close(mlr_database *database) {
  sqlite3_close(database->file);
  mlr_text_free(&database->detail);
  *database = (mlr_database){0};
}

mlr_failure mlr_database_create_missing_tables(mlr_database *database) {
  database->count = -1;
  return run(database, CREATE);
}

mlr_failure mlr_database_count(mlr_database *database) {
  return database->count >= 0 ? MLR_FINE : number(database, "SELECT COUNT(*) FROM events", &database->count);
}

mlr_failure mlr_database_newest(mlr_database *database, int64_t *into) {
  return number(database, "SELECT COALESCE(MAX(id), 0) FROM events", into);
}

static mlr_failure put_state(mlr_database *database, const mlr_map *state) {
  sqlite3_stmt *put = NULL;
  sqlite3_stmt *removal = NULL;
  int code = SQLITE_OK;
  if (state->count > 0) {
    code = sqlite3_prepare_v2(database->file, "INSERT OR REPLACE INTO state(key, value) VALUES(?1, ?2)", -1, &put, NULL);
  }
  if (state->count > 0 && code == SQLITE_OK) {
    code = sqlite3_prepare_v2(database->file, "DELETE FROM state WHERE key = ?1", -1, &removal, NULL);
  }
  for (size_t at = 0; at < state->count && (code == SQLITE_OK || code == SQLITE_DONE); at++) {
    const mlr_entry *each = &state->at[at];
    sqlite3_stmt *statement = each->is_removal ? removal : put;
    sqlite3_bind_text(statement, 1, each->key, -1, SQLITE_STATIC);
    if (!each->is_removal) sqlite3_bind_text64(statement, 2, each->value.at, each->value.length, SQLITE_STATIC, SQLITE_UTF8);
    code = sqlite3_step(statement);
    sqlite3_reset(statement);
  }
  mlr_failure failure = told(database, code);
  sqlite3_finalize(put);
  sqlite3_finalize(removal);
  return failure;
}

static mlr_failure remove_rows(mlr_database *database, const mlr_change *change, int64_t *count) {
  if (change->removed_count == 0) return MLR_FINE;
  sqlite3_stmt *statement = NULL;
  int code = sqlite3_prepare_v2(database->file, "DELETE FROM events WHERE id = ?1", -1, &statement, NULL);
  for (size_t at = 0; at < change->removed_count && (code == SQLITE_OK || code == SQLITE_DONE); at++) {
    sqlite3_bind_int64(statement, 1, change->removed[at]);
    code = sqlite3_step(statement);
    if (code == SQLITE_DONE) *count -= sqlite3_changes(database->file);
    sqlite3_reset(statement);
  }
  mlr_failure failure = told(database, code);
  sqlite3_finalize(statement);
  return failure;
}

static mlr_failure add_rows(mlr_database *database, const mlr_change *change, int64_t *count) {
  static const char INSERT[] = "INSERT INTO events(write_key, size, body) VALUES(?1, ?2, ?3)";
  if (change->added_count == 0) return MLR_FINE;
  sqlite3_stmt *statement = NULL;
  int code = sqlite3_prepare_v2(database->file, INSERT, -1, &statement, NULL);
  for (size_t at = 0; at < change->added_count && (code == SQLITE_OK || code == SQLITE_DONE); at++) {
    const mlr_text *body = &change->added[at];
    sqlite3_bind_text64(statement, 1, change->write_key.at, change->write_key.length, SQLITE_STATIC, SQLITE_UTF8);
    sqlite3_bind_int64(statement, 2, (int64_t)body->length);
    sqlite3_bind_text64(statement, 3, body->at, body->length, SQLITE_STATIC, SQLITE_UTF8);
    code = sqlite3_step(statement);
    if (code == SQLITE_DONE) ++*count;
    sqlite3_reset(statement);
  }
  mlr_failure failure = told(database, code);
  sqlite3_finalize(statement);
  return failure;
}

/** The oldest rows beyond so many leave, and are counted. */
static mlr_failure trim(mlr_database *database, int64_t keep_at_most, int64_t *count) {
  static const char DELETE[] = "DELETE FROM events WHERE id IN (SELECT id FROM events ORDER BY id LIMIT ?1)";
  if (*count <= keep_at_most) return MLR_FINE;
  sqlite3_stmt *statement = NULL;
  int code = sqlite3_prepare_v2(database->file, DELETE, -1, &statement, NULL);
  if (code == SQLITE_OK) {
    sqlite3_bind_int64(statement, 1, *count - keep_at_most);
    code = sqlite3_step(statement);
  }
  mlr_failure failure = told(database, code);
  sqlite3_finalize(statement);
  mlr_map counter = {0};
  if (failure == MLR_FINE) failure = mlr_database_value(database, "trimmed", &counter);
  if (failure == MLR_FINE) {
    const mlr_text *known = mlr_map_value(&counter, "trimmed");
    int64_t trimmed = known == NULL ? 0 : mlr_digits(known->at, known->length);
    mlr_map_put_number(&counter, "trimmed", trimmed + *count - keep_at_most);
    failure = put_state(database, &counter);
  }
  if (failure == MLR_FINE) *count = keep_at_most;
  mlr_map_clear(&counter);
  return failure;
}

mlr_failure mlr_database_apply(mlr_database *database, const mlr_change *change) {
  mlr_failure failure = mlr_database_count(database);
  int64_t count = database->count;
  if (failure == MLR_FINE) failure = begin(database);
  if (failure != MLR_FINE) return failure;
  failure = put_state(database, &change->state);
  if (failure == MLR_FINE) failure = remove_rows(database, change, &count);
  if (failure == MLR_FINE) failure = add_rows(database, change, &count);
  if (failure == MLR_FINE) failure = trim(database, change->keep_at_most, &count);
  failure = end(database, failure);
  if (failure == MLR_FINE) database->count = count;
  return failure;
}

mlr_failure mlr_database_drop_oldest_tenth(mlr_database *database, int64_t *dropped) {
  mlr_failure failure = mlr_database_count(database);
  if (failure != MLR_FINE) return failure;
  *dropped = database->count / 10;
  mlr_change change = {.keep_at_most = database->count - *dropped};
  return mlr_database_apply(database, &change);
}

mlr_failure mlr_database_empty_log(mlr_database *database) {
  int64_t is_busy = 0;
  mlr_failure failure = number(database, "PRAGMA wal_checkpoint(TRUNCATE)", &is_busy);
  return failure == MLR_FINE && is_busy ? told(database, SQLITE_BUSY) : failure;
}

mlr_failure mlr_database_remove_all(mlr_database *database, const mlr_map *state) {
  mlr_failure failure = begin(database);
  if (failure != MLR_FINE) return failure;
  failure = put_state(database, state);
  if (failure == MLR_FINE) failure = run(database, "DELETE FROM events");
  failure = end(database, failure);
  if (failure != MLR_FINE) return failure;
  database->count = 0;
  return mlr_database_empty_log(database);
}

static mlr_text column(sqlite3_stmt *statement, int at) {
  const char *bytes = (const char *)sqlite3_column_text(statement, at);
  return (mlr_text){.at = (char *)(uintptr_t)(bytes == NULL ? "" : bytes), .length = (size_t)sqlite3_column_bytes(statement, at)};
}

/** @param key NULL: all of them */
static mlr_failure read_state(mlr_database *database, const char *query, const char *key, mlr_map *into) {
  sqlite3_stmt *statement = NULL;
  int code = sqlite3_prepare_v2(database->file, query, -1, &statement, NULL);
  if (code == SQLITE_OK && key != NULL) sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC);
  if (code == SQLITE_OK) code = sqlite3_step(statement);
  for (; code == SQLITE_ROW; code = sqlite3_step(statement)) {
    mlr_text value = column(statement, 1);
    mlr_map_put(into, column(statement, 0).at, value.at, value.length);
  }
  mlr_failure failure = told(database, code);
  sqlite3_finalize(statement);
  return failure;
}

mlr_failure mlr_database_value(mlr_database *database, const char *key, mlr_map *into) {
  return read_state(database, "SELECT key, value FROM state WHERE key = ?1", key, into);
}

mlr_failure mlr_database_state(mlr_database *database, mlr_map *into) {
  return read_state(database, "SELECT key, value FROM state ORDER BY key", NULL, into);
}

mlr_failure mlr_database_choose(
    mlr_database *database, int64_t from, mlr_choose *choose, void *self, int generation, mlr_rows *into) {
  static const char QUERY[] = "SELECT id, write_key, size, body FROM events WHERE id >= ?1 ORDER BY id";
  sqlite3_stmt *statement = NULL;
  int code = sqlite3_prepare_v2(database->file, QUERY, -1, &statement, NULL);
  if (code == SQLITE_OK) code = sqlite3_bind_int64(statement, 1, from);
  if (code == SQLITE_OK) code = sqlite3_step(statement);
  while (code == SQLITE_ROW) {
    int64_t id = sqlite3_column_int64(statement, 0);
    mlr_text write_key = column(statement, 1);
    mlr_choice choice = choose(self, id, &write_key, (size_t)sqlite3_column_int64(statement, 2));
    if (choice == MLR_STOP) break;
    if (choice == MLR_TAKE) {
      mlr_text body = column(statement, 3);
      mlr_rows_add(into, id, generation, &write_key, body.at, body.length);
    }
    code = sqlite3_step(statement);
  }
  mlr_failure failure = told(database, code);
  sqlite3_finalize(statement);
  return failure;
}
