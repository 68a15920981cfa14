#include "mlr_json.h"

#include <stdlib.h>
#include <string.h>

static const int DEEPEST = 32;
static const size_t LONGEST_NUMBER = 64;

/** Where reading has come to. */
typedef struct {
  const char *at;
  const char *end;
} reader;

static char peek(reader *from);
static mlr_json *read_value(reader *from, int depth);

mlr_json *mlr_json_parse(const char *bytes, size_t length) {
  reader from = {bytes, bytes + length};
  mlr_json *json = read_value(&from, 0);
  peek(&from);
  if (json == NULL || from.at == from.end) return json;
  mlr_json_free(json);
  return NULL;
}

void mlr_json_free(mlr_json *json) {
  while (json != NULL) {
    mlr_json *next = json->next;
    mlr_json_free(json->first);
    mlr_text_free(&json->name);
    mlr_text_free(&json->string);
    free(json);
    json = next;
  }
}

const mlr_json *mlr_json_member(const mlr_json *of, const char *name) {
  const mlr_json *found = NULL;
  if (!mlr_json_is(of, MLR_OBJECT)) return NULL;
  for (const mlr_json *member = of->first; member != NULL; member = member->next) {
    if (member->name.length == strlen(name) && memcmp(member->name.at, name, member->name.length) == 0) found = member;
  }
  return found;
}

bool mlr_json_is(const mlr_json *json, mlr_kind kind) {
  return json != NULL && json->kind == kind;
}

/** The next character that is no blank; 0 at the end. */
static char peek(reader *from) {
  while (from->at < from->end && (*from->at == ' ' || *from->at == '\t' || *from->at == '\r' || *from->at == '\n')) from->at++;
  return from->at < from->end ? *from->at : 0;
}

static bool takes(reader *from, const char *word) {
  size_t length = strlen(word);
  if ((size_t)(from->end - from->at) < length || memcmp(from->at, word, length) != 0) return false;
  from->at += length;
  return true;
}

static bool read_hex(reader *from, uint32_t *unit) {
  *unit = 0;
  for (int digit = 0; digit < 4; digit++, from->at++) {
    if (from->at == from->end) return false;
    char sign = *from->at;
    int value = sign >= '0' && sign <= '9'   ? sign - '0'
                : sign >= 'a' && sign <= 'f' ? sign - 'a' + 10
                : sign >= 'A' && sign <= 'F' ? sign - 'A' + 10
                                             : -1;
    if (value < 0) return false;
    *unit = *unit << 4 | (uint32_t)value;
  }
  return true;
}

static void put_character(mlr_text *to, uint32_t code) {
  unsigned char bytes[4];
  size_t length;
  if (code < 0x80) {
    bytes[0] = (unsigned char)code;
    length = 1;
  } else if (code < 0x800) {
    bytes[0] = (unsigned char)(0xc0 | code >> 6);
    bytes[1] = (unsigned char)(0x80 | (code & 63));
    length = 2;
  } else if (code < 0x10000) {
    bytes[0] = (unsigned char)(0xe0 | code >> 12);
    bytes[1] = (unsigned char)(0x80 | (code >> 6 & 63));
    bytes[2] = (unsigned char)(0x80 | (code & 63));
    length = 3;
  } else {
    bytes[0] = (unsigned char)(0xf0 | code >> 18);
    bytes[1] = (unsigned char)(0x80 | (code >> 12 & 63));
    bytes[2] = (unsigned char)(0x80 | (code >> 6 & 63));
    bytes[3] = (unsigned char)(0x80 | (code & 63));
    length = 4;
  }
  mlr_put_bytes(to, bytes, length);
}

/** After `\u`. Half of a surrogate pair becomes U+FFFD. */
static bool read_unicode(reader *from, mlr_text *to) {
  uint32_t unit;
  if (!read_hex(from, &unit)) return false;
  if (unit >= 0xd800 && unit <= 0xdbff) {
    reader ahead = *from;
    uint32_t low;
    if (takes(&ahead, "\\u") && read_hex(&ahead, &low) && low >= 0xdc00 && low <= 0xdfff) {
      *from = ahead;
      put_character(to, 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
      return true;
    }
  }
  put_character(to, unit >= 0xd800 && unit <= 0xdfff ? 0xfffd : unit);
  return true;
}

static bool read_string(reader *from, mlr_text *to) {
  static const char NAMES[] = "\"\\/bfnrt";
  static const char MEANT[] = "\"\\/\b\f\n\r\t";
  if (peek(from) != '"') return false;
  mlr_put(to, "");
  for (from->at++; from->at < from->end;) {
    const char *plain = from->at;
    while (from->at < from->end && *from->at != '"' && *from->at != '\\' && (unsigned char)*from->at >= 0x20) from->at++;
    mlr_put_bytes(to, plain, (size_t)(from->at - plain));
    if (takes(from, "\"")) return true;
    if (!takes(from, "\\") || from->at == from->end) return false;
    char name = *from->at++;
    const char *known = name == 0 ? NULL : strchr(NAMES, name);
    if (known != NULL) mlr_put_bytes(to, MEANT + (known - NAMES), 1);
    else if (name != 'u' || !read_unicode(from, to)) return false;
  }
  return false;
}

static bool read_digits(reader *from) {
  const char *first = from->at;
  while (from->at < from->end && *from->at >= '0' && *from->at <= '9') from->at++;
  return from->at > first;
}

static bool read_number(reader *from, double *number) {
  const char *first = from->at;
  takes(from, "-");
  if (!takes(from, "0") && !read_digits(from)) return false;
  if (takes(from, ".") && !read_digits(from)) return false;
  if (takes(from, "e") || takes(from, "E")) {
    if (!takes(from, "+")) takes(from, "-");
    if (!read_digits(from)) return false;
  }
  char text[65];
  size_t length = (size_t)(from->at - first);
  if (length > LONGEST_NUMBER) return false;
  memcpy(text, first, length);
  text[length] = 0;
  *number = strtod(text, NULL);
  return true;
}

static bool read_members(reader *from, mlr_json *into, int depth) {
  char end = into->kind == MLR_LIST ? ']' : '}';
  mlr_json **last = &into->first;
  from->at++;
  if (peek(from) == end) return takes(from, into->kind == MLR_LIST ? "]" : "}");
  for (;;) {
    mlr_text name = {0};
    bool is_named = into->kind == MLR_LIST || (read_string(from, &name) && peek(from) == ':' && takes(from, ":"));
    mlr_json *member = is_named ? read_value(from, depth + 1) : NULL;
    if (member == NULL) {
      mlr_text_free(&name);
      return false;
    }
    member->name = name;
    *last = member;
    last = &member->next;
    char next = peek(from);
    if (next != ',' && next != end) return false;
    from->at++;
    if (next == end) return true;
  }
}

static mlr_json *read_value(reader *from, int depth) {
  char first = peek(from);
  mlr_json *json = mlr_memory(sizeof *json);
  bool is_read = depth <= DEEPEST;
  if (!is_read) {
    // Deeper than anything that a page sends.
  } else if (first == '{' || first == '[') {
    json->kind = first == '{' ? MLR_OBJECT : MLR_LIST;
    is_read = read_members(from, json, depth);
  } else if (first == '"') {
    json->kind = MLR_STRING;
    is_read = read_string(from, &json->string);
  } else if (takes(from, "null")) {
    json->kind = MLR_NULL;
  } else if (takes(from, "true")) {
    json->kind = MLR_TRUE;
  } else if (takes(from, "false")) {
    json->kind = MLR_FALSE;
  } else {
    json->kind = MLR_NUMBER;
    is_read = read_number(from, &json->number);
  }
  if (is_read) return json;
  mlr_json_free(json);
  return NULL;
}
