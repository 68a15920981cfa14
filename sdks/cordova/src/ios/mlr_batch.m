#include "mlr_batch.h"

#include <string.h>
#include <zlib.h>

enum { TIME_BYTES = 24, GZIP_WINDOW = 15 + 16, GZIP_MEMORY = 8 };

static const char BEFORE_TIME[] = "{\"sentAt\":\"";
static const char BEFORE_FIRST[] = "\",\"attempt\":\"first\",\"batch\":[";
static const char BEFORE_REPEAT[] = "\",\"attempt\":\"repeat\",\"batch\":[";
static const char AFTER_BATCH[] = "]}";
static const char BEFORE_ROW[] = "\",";
static const char BEFORE_ID[] = "{\"messageId\":\"";

mlr_text mlr_batch_text(const mlr_row *rows, size_t count, bool is_repeat, int64_t now) {
  mlr_text text = {0};
  mlr_put(&text, BEFORE_TIME);
  mlr_put_time(&text, now);
  mlr_put(&text, is_repeat ? BEFORE_REPEAT : BEFORE_FIRST);
  for (size_t at = 0; at < count; at++) {
    const mlr_text *body = &rows[at].body;
    if (at > 0) mlr_put(&text, ",");
    mlr_put(&text, BEFORE_TIME);
    mlr_put_time(&text, now);
    mlr_put(&text, BEFORE_ROW);
    if (body->length > 0) mlr_put_bytes(&text, body->at + 1, body->length - 1);
  }
  mlr_put(&text, AFTER_BATCH);
  return text;
}

mlr_room mlr_batch_room(size_t most_rows, int64_t most_bytes) {
  size_t before_time = strlen(BEFORE_TIME) + TIME_BYTES;
  // The comma between two rows takes the place of the first character of the second; the first row needs none.
  size_t around = before_time + strlen(BEFORE_REPEAT) + strlen(AFTER_BATCH) - 1;
  return (mlr_room){
      .rows = most_rows,
      .bytes = most_bytes - (int64_t)around,
      .bytes_per_row = (int64_t)(before_time + strlen(BEFORE_ROW)),
  };
}

mlr_text mlr_batch_event(const char *uuid, const mlr_text *tail, int64_t now) {
  mlr_text event = {0};
  mlr_put(&event, BEFORE_ID);
  mlr_put(&event, uuid);
  mlr_put(&event, "\",\"originalTimestamp\":\"");
  mlr_put_time(&event, now);
  mlr_put(&event, "\",");
  mlr_put_bytes(&event, tail->at, tail->length);
  return event;
}

mlr_text mlr_batch_message_id(const mlr_text *body) {
  size_t before = strlen(BEFORE_ID);
  if (body->length > before && memcmp(body->at, BEFORE_ID, before) == 0) {
    const char *id = body->at + before;
    const char *end = memchr(id, '"', body->length - before);
    if (end != NULL) return mlr_text_of(id, (size_t)(end - id));
  }
  return mlr_text_of("without messageId", strlen("without messageId"));
}

mlr_text mlr_gzip(const mlr_text *text) {
  mlr_text compressed = {0};
  z_stream stream = {0};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY, Z_DEFAULT_STRATEGY) != Z_OK) {
    return compressed;
  }
  compressed.room = deflateBound(&stream, (uLong)text->length) + 1;
  compressed.at = mlr_memory(compressed.room);
  stream.next_in = (Bytef *)text->at;
  stream.avail_in = (uInt)text->length;
  stream.next_out = (Bytef *)compressed.at;
  stream.avail_out = (uInt)compressed.room - 1;
  if (deflate(&stream, Z_FINISH) == Z_STREAM_END) compressed.length = stream.total_out;
  deflateEnd(&stream);
  return compressed;
}
