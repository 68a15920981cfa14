/* Texts that grow, and the forms in which numbers, times and bytes are written into them. */
#ifndef MLR_TEXT_H
#define MLR_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** `length` bytes and a zero byte behind them; all zero is an empty one, whose `at` is NULL. */
typedef struct {
  char *at;
  size_t length;
  size_t room;
} mlr_text;

/** Zeroed memory. A phone that has none left ends the process. */
void *mlr_memory(size_t bytes);
void *mlr_more_memory(void *was, size_t bytes);

mlr_text mlr_text_of(const char *bytes, size_t length);
void mlr_text_free(mlr_text *text);
bool mlr_text_equals(const mlr_text *one, const mlr_text *other);

void mlr_put(mlr_text *to, const char *text);
void mlr_put_bytes(mlr_text *to, const void *bytes, size_t length);
void mlr_put_number(mlr_text *to, int64_t number);
void mlr_put_base64(mlr_text *to, const char *bytes, size_t length);
/** UTC with milliseconds and `Z`, 24 characters. */
void mlr_put_time(mlr_text *to, int64_t milliseconds);
/** As one value of a query. */
void mlr_put_encoded(mlr_text *to, const char *text);
/** A text of JSON with its quotes; what is not UTF-8 becomes U+FFFD. */
void mlr_put_json(mlr_text *to, const char *bytes, size_t length);

/** Bytes of the first `characters` of a text. */
size_t mlr_start(const char *bytes, size_t length, size_t characters);
/** Milliseconds since 1970 of a date of HTTP, such as `Fri, 20 Nov 2026 09:31:01 GMT`; below 0: it is none. */
int64_t mlr_http_date(const char *text);
/** A number that is written in digits alone; 0 when it is not, or is too long. */
int64_t mlr_digits(const char *text, size_t length);

#endif
