/* Values by key, in the order in which the keys came: state, changes of it, the guard. */
#ifndef MLR_MAP_H
#define MLR_MAP_H

#include "mlr_json.h"

typedef struct {
  char *key;
  mlr_text value;
  /** In a map of changes: the key is to go. */
  bool is_removal;
} mlr_entry;

typedef struct {
  mlr_entry *at;
  size_t count;
} mlr_map;

/** @return NULL when there is none */
const mlr_entry *mlr_map_find(const mlr_map *map, const char *key);
/** @return the value, or NULL when there is none */
const mlr_text *mlr_map_value(const mlr_map *map, const char *key);
void mlr_map_put(mlr_map *map, const char *key, const char *bytes, size_t length);
void mlr_map_put_number(mlr_map *map, const char *key, int64_t number);
void mlr_map_put_removal(mlr_map *map, const char *key);
void mlr_map_put_all(mlr_map *map, const mlr_map *others);
void mlr_map_remove(mlr_map *map, const char *key);
void mlr_map_clear(mlr_map *map);
/**
 * Of an object of texts and nulls; a null is a removal.
 *
 * @return false when it is none; to be cleared in either case
 */
bool mlr_map_read(mlr_map *into, const mlr_json *from);
/** As an object of JSON; removals are left out. */
void mlr_put_map(mlr_text *to, const mlr_map *map);

#endif
