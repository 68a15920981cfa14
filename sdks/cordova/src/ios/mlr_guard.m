#include "mlr_guard.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mlr_files.h"
#include "mlr_json.h"

static const char *const KEYS[] = {"tracking", "anonymousId", "marker"};
static const size_t KEY_COUNT = sizeof KEYS / sizeof *KEYS;

/** Far above what the three values can be; a longer file is not ours. */
enum { LONGEST_BYTES = 65536 };

static bool is_guarded(const char *key) {
  for (size_t at = 0; at < KEY_COUNT; at++) {
    if (strcmp(KEYS[at], key) == 0) return true;
  }
  return false;
}

/** @return 0, or errno */
static int read_bytes(const char *path, char *into, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return errno;
  *length = fread(into, 1, LONGEST_BYTES, file);
  int why = ferror(file) ? errno : 0;
  fclose(file);
  return why;
}

/** Damaged, the copy in the database counts, and the next change writes a good file. */
static void take(mlr_guard *guard, const char *bytes, size_t length) {
  mlr_map waiting = guard->values;
  guard->values = (mlr_map){0};
  mlr_json *parsed = mlr_json_parse(bytes, length);
  guard->is_on_disk = mlr_json_is(parsed, MLR_OBJECT);
  for (size_t at = 0; at < KEY_COUNT; at++) {
    const mlr_json *value = mlr_json_member(parsed, KEYS[at]);
    if (mlr_json_is(value, MLR_STRING)) mlr_map_put(&guard->values, KEYS[at], value->string.at, value->string.length);
  }
  mlr_json_free(parsed);
  if (waiting.count > 0) mlr_guard_put(guard, &waiting);
  mlr_map_clear(&waiting);
}

/** An absent file is read: it holds nothing. */
static void read_file(mlr_guard *guard) {
  char *bytes = mlr_memory(LONGEST_BYTES);
  size_t length = 0;
  mlr_text path = mlr_path(guard->folder, "guard.json");
  guard->trouble = read_bytes(path.at, bytes, &length);
  guard->is_read = guard->trouble == 0 || guard->trouble == ENOENT || guard->trouble == ENOTDIR;
  if (guard->is_read) take(guard, bytes, length);
  mlr_text_free(&path);
  free(bytes);
}

static bool write_bytes(const char *path, const mlr_text *text) {
  FILE *file = fopen(path, "wb");
  if (file == NULL) return false;
  bool is_written =
      fwrite(text->at, 1, text->length, file) == text->length && fflush(file) == 0 && fsync(fileno(file)) == 0;
  int why = errno;
  bool is_closed = fclose(file) == 0;
  if (!is_written) errno = why;
  return is_written && is_closed;
}

static bool write_file(mlr_guard *guard) {
  mlr_make_folder(guard->folder);
  mlr_text text = {0};
  mlr_text path = mlr_path(guard->folder, "guard.json");
  mlr_text temporary = mlr_path(guard->folder, "guard.json.new");
  mlr_put_map(&text, &guard->values);
  guard->is_on_disk = write_bytes(temporary.at, &text) && rename(temporary.at, path.at) == 0;
  mlr_text_free(&temporary);
  mlr_text_free(&path);
  mlr_text_free(&text);
  return guard->is_on_disk;
}

const char *mlr_guard_trouble(mlr_guard *guard) {
  if (!guard->is_read) read_file(guard);
  return guard->is_read ? NULL : strerror(guard->trouble);
}

const mlr_text *mlr_guard_value(mlr_guard *guard, const char *key) {
  if (!guard->is_read) read_file(guard);
  return mlr_map_value(&guard->values, key);
}

const char *mlr_guard_put(mlr_guard *guard, const mlr_map *changes) {
  const char *trouble = mlr_guard_trouble(guard);
  bool is_changed = false;
  for (size_t at = 0; at < changes->count; at++) {
    const mlr_entry *change = &changes->at[at];
    if (!is_guarded(change->key)) continue;
    if (trouble != NULL && change->is_removal) mlr_map_put_removal(&guard->values, change->key);
    if (trouble != NULL && !change->is_removal) mlr_map_put(&guard->values, change->key, change->value.at, change->value.length);
    if (trouble != NULL) continue;
    const mlr_text *known = mlr_map_value(&guard->values, change->key);
    if (change->is_removal ? known == NULL : known != NULL && mlr_text_equals(known, &change->value)) continue;
    is_changed = true;
    if (change->is_removal) mlr_map_remove(&guard->values, change->key);
    else mlr_map_put(&guard->values, change->key, change->value.at, change->value.length);
  }
  if (!mlr_guard_takes(changes)) return NULL;
  if (trouble != NULL) return trouble;
  if (!is_changed && guard->is_on_disk) return NULL;
  return write_file(guard) ? NULL : strerror(errno);
}

bool mlr_guard_takes(const mlr_map *changes) {
  for (size_t at = 0; at < changes->count; at++) {
    if (is_guarded(changes->at[at].key)) return true;
  }
  return false;
}

void mlr_guard_free(mlr_guard *guard) {
  mlr_map_clear(&guard->values);
  free(guard->folder);
}
