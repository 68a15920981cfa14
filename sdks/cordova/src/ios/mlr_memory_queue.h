/* Events that could not be stored: at most 1,000 and 2 MiB, the oldest leave first. They are lost when the process ends. */
#ifndef MLR_MEMORY_QUEUE_H
#define MLR_MEMORY_QUEUE_H

#include "mlr_row.h"

typedef struct {
  mlr_rows rows;
  size_t bytes;
  int64_t last_id;
} mlr_memory_queue;

/** @return how many had to leave */
size_t mlr_memory_queue_add(mlr_memory_queue *queue, const mlr_text *write_key, const mlr_text *bodies, size_t count,
                            size_t keep_at_most);
void mlr_memory_queue_remove(mlr_memory_queue *queue, int64_t id);
void mlr_memory_queue_clear(mlr_memory_queue *queue);

#endif
