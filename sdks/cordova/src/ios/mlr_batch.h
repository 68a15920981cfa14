/*
 * The JSON of batches, made by joining texts: a row begins with `{"messageId":"…","originalTimestamp":"…",` and becomes an
 * event when `{"sentAt":"…",` takes the place of its first character. See contracts/cordova-sdk.md §6.
 */
#ifndef MLR_BATCH_H
#define MLR_BATCH_H

#include "mlr_row.h"

/**
 * @param is_repeat some of the rows may have been stored by the server before (contracts/ingest.md §4)
 * @param now ms since 1970
 */
mlr_text mlr_batch_text(const mlr_row *rows, size_t count, bool is_repeat, int64_t now);
/** Room for a whole body of this size and so many events. */
mlr_room mlr_batch_room(size_t most_rows, int64_t most_bytes);
/** The row of an event of which all but the first two members is given. */
mlr_text mlr_batch_event(const char *uuid, const mlr_text *tail, int64_t now);
mlr_text mlr_batch_message_id(const mlr_text *body);
/** @return empty when it could not be compressed */
mlr_text mlr_gzip(const mlr_text *text);

#endif
