#include "mlr_memory_queue.h"

static const size_t MOST_ROWS = 1000;
static const size_t MOST_BYTES = 2 * 1024 * 1024;

size_t mlr_memory_queue_add(mlr_memory_queue *queue, const mlr_text *write_key, const mlr_text *bodies, size_t count,
                            size_t keep_at_most) {
  for (size_t at = 0; at < count; at++) {
    mlr_rows_add(&queue->rows, --queue->last_id, 0, write_key, bodies[at].at, bodies[at].length);
    queue->bytes += bodies[at].length;
  }
  size_t most = keep_at_most < MOST_ROWS ? keep_at_most : MOST_ROWS;
  size_t left = 0;
  for (; queue->rows.count - left > most || queue->bytes > MOST_BYTES; left++) {
    queue->bytes -= queue->rows.at[left].body.length;
  }
  mlr_rows_remove(&queue->rows, 0, left);
  return left;
}

void mlr_memory_queue_remove(mlr_memory_queue *queue, int64_t id) {
  for (size_t at = 0; at < queue->rows.count; at++) {
    if (queue->rows.at[at].id != id) continue;
    queue->bytes -= queue->rows.at[at].body.length;
    mlr_rows_remove(&queue->rows, at, 1);
    return;
  }
}

void mlr_memory_queue_clear(mlr_memory_queue *queue) {
  mlr_rows_clear(&queue->rows);
  queue->bytes = 0;
}
