#include "mlr_row.h"

#include <stdlib.h>
#include <string.h>

void mlr_rows_add(mlr_rows *rows, int64_t id, int generation, const mlr_text *write_key, const char *body, size_t length) {
  if (rows->count == rows->room) {
    rows->room = 2 * rows->room + 8;
    rows->at = mlr_more_memory(rows->at, rows->room * sizeof *rows->at);
  }
  mlr_row *added = &rows->at[rows->count++];
  added->id = id;
  added->generation = generation;
  added->write_key = mlr_text_of(write_key->at, write_key->length);
  added->body = mlr_text_of(body, length);
}

void mlr_rows_remove(mlr_rows *rows, size_t from, size_t count) {
  for (size_t at = from; at < from + count; at++) {
    mlr_text_free(&rows->at[at].write_key);
    mlr_text_free(&rows->at[at].body);
  }
  if (count == 0) return;
  memmove(rows->at + from, rows->at + from + count, (rows->count - from - count) * sizeof *rows->at);
  rows->count -= count;
}

void mlr_rows_clear(mlr_rows *rows) {
  mlr_rows_remove(rows, 0, rows->count);
  free(rows->at);
  *rows = (mlr_rows){0};
}

bool mlr_room_takes(mlr_room *room, size_t size) {
  int64_t taken = (int64_t)size + room->bytes_per_row;
  bool fits = room->rows > 0 && (!room->is_begun || room->bytes >= taken);
  room->is_begun = true;
  room->bytes -= taken;
  room->rows = fits ? room->rows - 1 : 0;
  return fits;
}
