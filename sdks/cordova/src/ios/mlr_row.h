/* Events of the queue, and how many of them go together. */
#ifndef MLR_ROW_H
#define MLR_ROW_H

#include "mlr_text.h"

/** `body` is the finished JSON of the event without `sentAt`. */
typedef struct {
  /** Of the database; of rows that are only in memory, below 0. */
  int64_t id;
  /** Which file the id is of: a new one begins at 1 again. */
  int generation;
  mlr_text write_key;
  mlr_text body;
} mlr_row;

typedef struct {
  mlr_row *at;
  size_t count;
  size_t room;
} mlr_rows;

/** How much still fits into one batch. The first row always does. */
typedef struct {
  size_t rows;
  int64_t bytes;
  /** What each row takes beyond its own size. */
  int64_t bytes_per_row;
  bool is_begun;
} mlr_room;

/** Copies both texts. */
void mlr_rows_add(mlr_rows *rows, int64_t id, int generation, const mlr_text *write_key, const char *body, size_t length);
void mlr_rows_remove(mlr_rows *rows, size_t from, size_t count);
void mlr_rows_clear(mlr_rows *rows);

/** Once a row does not fit, none does: their order is kept. */
bool mlr_room_takes(mlr_room *room, size_t size);

#endif
