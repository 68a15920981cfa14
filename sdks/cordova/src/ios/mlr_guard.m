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

/** Absent or damaged, the copy in the database counts, and the next change writes a good file. */
static void read_file(mlr_guard *guard) {
  guard->is_read = true;
  mlr_text path = mlr_path(guard->folder, "guard.json");
  FILE *file = fopen(path.at, "rb");
  mlr_text_free(&path);
  if (file == NULL) return;
  char *bytes = mlr_memory(LONGEST_BYTES);
  size_t length = fread(bytes, 1, LONGEST_BYTES, file);
  fclose(file);
  mlr_json *parsed = mlr_json_parse(bytes, length);
  free(bytes);
  guard->is_on_disk = mlr_json_is(parsed, MLR_OBJECT);
  for (size_t at = 0; at < KEY_COUNT; at++) {
    const mlr_json *value = mlr_json_member(parsed, KEYS[at]);
    if (mlr_json_is(value, MLR_STRING)) mlr_map_put(&guard->values, KEYS[at], value->string.at, value->string.length);
  }
  mlr_json_free(parsed);
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

const mlr_text *mlr_guard_value(mlr_guard *guard, const char *key) {
  if (!guard->is_read) read_file(guard);
  return mlr_map_value(&guard->values, key);
}

const char *mlr_guard_put(mlr_guard *guard, const mlr_map *changes) {
  if (!guard->is_read) read_file(guard);
  bool is_changed = false;
  bool is_guarding = false;
  for (size_t at = 0; at < changes->count; at++) {
    const mlr_entry *change = &changes->at[at];
    if (!is_guarded(change->key)) continue;
    is_guarding = true;
    const mlr_text *known = mlr_map_value(&guard->values, change->key);
    if (change->is_removal ? known == NULL : known != NULL && mlr_text_equals(known, &change->value)) continue;
    is_changed = true;
    if (change->is_removal) mlr_map_remove(&guard->values, change->key);
    else mlr_map_put(&guard->values, change->key, change->value.at, change->value.length);
  }
  if (!is_guarding || (!is_changed && guard->is_on_disk)) return NULL;
  return write_file(guard) ? NULL : strerror(errno);
}

void mlr_guard_free(mlr_guard *guard) {
  mlr_map_clear(&guard->values);
  free(guard->folder);
}
