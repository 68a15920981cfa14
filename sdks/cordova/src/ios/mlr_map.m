#include "mlr_map.h"

#include <stdlib.h>
#include <string.h>

static mlr_entry *entry(const mlr_map *map, const char *key) {
  for (size_t at = 0; at < map->count; at++) {
    if (strcmp(map->at[at].key, key) == 0) return &map->at[at];
  }
  return NULL;
}

static mlr_entry *made(mlr_map *map, const char *key) {
  mlr_entry *found = entry(map, key);
  if (found != NULL) {
    mlr_text_free(&found->value);
    return found;
  }
  map->at = mlr_more_memory(map->at, (map->count + 1) * sizeof *map->at);
  mlr_entry *added = &map->at[map->count++];
  *added = (mlr_entry){.key = mlr_text_of(key, strlen(key)).at};
  return added;
}

const mlr_entry *mlr_map_find(const mlr_map *map, const char *key) {
  return entry(map, key);
}

const mlr_text *mlr_map_value(const mlr_map *map, const char *key) {
  const mlr_entry *found = entry(map, key);
  return found == NULL || found->is_removal ? NULL : &found->value;
}

void mlr_map_put(mlr_map *map, const char *key, const char *bytes, size_t length) {
  mlr_text value = mlr_text_of(bytes, length);
  mlr_entry *put = made(map, key);
  put->value = value;
  put->is_removal = false;
}

void mlr_map_put_number(mlr_map *map, const char *key, int64_t number) {
  mlr_text text = {0};
  mlr_put_number(&text, number);
  mlr_map_put(map, key, text.at, text.length);
  mlr_text_free(&text);
}

void mlr_map_put_removal(mlr_map *map, const char *key) {
  made(map, key)->is_removal = true;
}

void mlr_map_put_all(mlr_map *map, const mlr_map *others) {
  for (size_t at = 0; at < others->count; at++) {
    const mlr_entry *other = &others->at[at];
    if (other->is_removal) mlr_map_put_removal(map, other->key);
    else mlr_map_put(map, other->key, other->value.at, other->value.length);
  }
}

void mlr_map_remove(mlr_map *map, const char *key) {
  mlr_entry *found = entry(map, key);
  if (found == NULL) return;
  free(found->key);
  mlr_text_free(&found->value);
  size_t after = map->count - (size_t)(found - map->at) - 1;
  memmove(found, found + 1, after * sizeof *found);
  map->count--;
}

void mlr_map_clear(mlr_map *map) {
  for (size_t at = 0; at < map->count; at++) {
    free(map->at[at].key);
    mlr_text_free(&map->at[at].value);
  }
  free(map->at);
  *map = (mlr_map){0};
}

bool mlr_map_read(mlr_map *into, const mlr_json *from) {
  if (!mlr_json_is(from, MLR_OBJECT)) return false;
  for (const mlr_json *member = from->first; member != NULL; member = member->next) {
    // A key is a name of ours; one with a zero byte in it is not.
    if (strlen(member->name.at) != member->name.length) return false;
    if (member->kind == MLR_STRING) mlr_map_put(into, member->name.at, member->string.at, member->string.length);
    else if (member->kind == MLR_NULL) mlr_map_put_removal(into, member->name.at);
    else return false;
  }
  return true;
}

void mlr_put_map(mlr_text *to, const mlr_map *map) {
  const char *before = "{";
  for (size_t at = 0; at < map->count; at++) {
    const mlr_entry *each = &map->at[at];
    if (each->is_removal) continue;
    mlr_put(to, before);
    mlr_put_json(to, each->key, strlen(each->key));
    mlr_put(to, ":");
    mlr_put_json(to, each->value.at, each->value.length);
    before = ",";
  }
  mlr_put(to, *before == '{' ? "{}" : "}");
}
