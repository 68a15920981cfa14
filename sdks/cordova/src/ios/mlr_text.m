#include "mlr_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t DAY_MS = 86400000;
static const size_t MOST_DIGITS = 18;

void *mlr_memory(size_t bytes) {
  void *memory = calloc(1, bytes > 0 ? bytes : 1);
  if (memory == NULL) abort();
  return memory;
}

void *mlr_more_memory(void *was, size_t bytes) {
  void *memory = realloc(was, bytes);
  if (memory == NULL) abort();
  return memory;
}

mlr_text mlr_text_of(const char *bytes, size_t length) {
  mlr_text text = {0};
  mlr_put_bytes(&text, bytes, length);
  return text;
}

void mlr_text_free(mlr_text *text) {
  free(text->at);
  *text = (mlr_text){0};
}

bool mlr_text_equals(const mlr_text *one, const mlr_text *other) {
  return one->length == other->length && (one->length == 0 || memcmp(one->at, other->at, one->length) == 0);
}

void mlr_put(mlr_text *to, const char *text) {
  mlr_put_bytes(to, text, strlen(text));
}

void mlr_put_bytes(mlr_text *to, const void *bytes, size_t length) {
  if (to->length + length + 1 > to->room) {
    to->room = 2 * (to->length + length + 1);
    to->at = mlr_more_memory(to->at, to->room);
  }
  if (length > 0) memcpy(to->at + to->length, bytes, length);
  to->length += length;
  to->at[to->length] = 0;
}

void mlr_put_number(mlr_text *to, int64_t number) {
  char digits[24];
  snprintf(digits, sizeof digits, "%lld", (long long)number);
  mlr_put(to, digits);
}

void mlr_put_base64(mlr_text *to, const char *bytes, size_t length) {
  static const char SIGNS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const unsigned char *from = (const unsigned char *)bytes;
  for (size_t at = 0; at < length; at += 3) {
    size_t left = length - at;
    uint32_t three = (uint32_t)from[at] << 16;
    if (left > 1) three |= (uint32_t)from[at + 1] << 8;
    if (left > 2) three |= from[at + 2];
    char four[4] = {SIGNS[three >> 18], SIGNS[three >> 12 & 63], '=', '='};
    if (left > 1) four[2] = SIGNS[three >> 6 & 63];
    if (left > 2) four[3] = SIGNS[three & 63];
    mlr_put_bytes(to, four, 4);
  }
}

/** Days since 1970-01-01 of a day of the Gregorian calendar, whose years are taken to begin in March. */
static int64_t days_since_1970(int64_t year, int64_t month, int64_t day) {
  if (month <= 2) year--;
  int64_t era = (year >= 0 ? year : year - 399) / 400;
  int64_t year_of_era = year - era * 400;
  int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

void mlr_put_time(mlr_text *to, int64_t milliseconds) {
  int64_t days = milliseconds / DAY_MS;
  int64_t of_day = milliseconds % DAY_MS;
  if (of_day < 0) {
    of_day += DAY_MS;
    days--;
  }
  int64_t shifted = days + 719468;
  int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
  int64_t day_of_era = shifted - era * 146097;
  int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  int64_t from_march = (5 * day_of_year + 2) / 153;
  int64_t month = from_march < 10 ? from_march + 3 : from_march - 9;
  int64_t year = year_of_era + era * 400 + (month <= 2 ? 1 : 0);
  int64_t day = day_of_year - (153 * from_march + 2) / 5 + 1;

  char text[64];
  snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", (int)year, (int)month, (int)day,
           (int)(of_day / 3600000), (int)(of_day / 60000 % 60), (int)(of_day / 1000 % 60), (int)(of_day % 1000));
  mlr_put(to, text);
}

void mlr_put_encoded(mlr_text *to, const char *text) {
  static const char HEX[] = "0123456789ABCDEF";
  static const char KEPT[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";
  for (; *text != 0; text++) {
    unsigned char byte = (unsigned char)*text;
    char coded[3] = {'%', HEX[byte >> 4], HEX[byte & 15]};
    if (strchr(KEPT, *text) != NULL) mlr_put_bytes(to, text, 1);
    else mlr_put_bytes(to, coded, 3);
  }
}

/** Bytes of the character of UTF-8 that begins here; 0: there is none. */
static size_t character(const unsigned char *at, size_t left) {
  if (at[0] < 0x80) return 1;
  size_t bytes = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
  if (at[0] < 0xc2 || at[0] > 0xf4 || bytes > left) return 0;
  for (size_t next = 1; next < bytes; next++) {
    if ((at[next] & 0xc0) != 0x80) return 0;
  }
  // Forms that are too long, halves of surrogate pairs, and what is beyond U+10FFFF.
  bool is_outside = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
                    (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f);
  return is_outside ? 0 : bytes;
}

void mlr_put_json(mlr_text *to, const char *bytes, size_t length) {
  const unsigned char *from = (const unsigned char *)bytes;
  mlr_put(to, "\"");
  for (size_t at = 0; at < length;) {
    size_t wide = character(from + at, length - at);
    if (wide == 0) {
      mlr_put(to, "\xef\xbf\xbd");
    } else if (from[at] == '"' || from[at] == '\\') {
      mlr_put(to, "\\");
      mlr_put_bytes(to, from + at, 1);
    } else if (from[at] < 0x20) {
      char escape[8];
      snprintf(escape, sizeof escape, "\\u%04x", from[at]);
      mlr_put(to, escape);
    } else {
      mlr_put_bytes(to, from + at, wide);
    }
    at += wide == 0 ? 1 : wide;
  }
  mlr_put(to, "\"");
}

size_t mlr_start(const char *bytes, size_t length, size_t characters) {
  const unsigned char *from = (const unsigned char *)bytes;
  size_t at = 0;
  for (; at < length && characters > 0; characters--) {
    size_t wide = character(from + at, length - at);
    at += wide == 0 ? 1 : wide;
  }
  return at;
}

int64_t mlr_http_date(const char *text) {
  static const char MONTHS[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
  int day, year, hour, minute, second;
  char month[4];
  if (sscanf(text, "%*3[A-Za-z], %2d %3[A-Za-z] %4d %2d:%2d:%2d GMT", &day, month, &year, &hour, &minute, &second) != 6) {
    return -1;
  }
  const char *found = strlen(month) == 3 ? strstr(MONTHS, month) : NULL;
  if (found == NULL || (found - MONTHS) % 3 != 0) return -1;
  int64_t days = days_since_1970(year, (found - MONTHS) / 3 + 1, day);
  return days * DAY_MS + ((hour * 60 + minute) * 60 + second) * (int64_t)1000;
}

int64_t mlr_digits(const char *text, size_t length) {
  if (length > MOST_DIGITS) return 0;
  int64_t number = 0;
  for (size_t at = 0; at < length; at++) {
    if (text[at] < '0' || text[at] > '9') return 0;
    number = number * 10 + (text[at] - '0');
  }
  return number;
}
