/* JSON that came from outside: the arguments of actions, values of the state, the guard file. */
#ifndef MLR_JSON_H
#define MLR_JSON_H

#include "mlr_text.h"

typedef enum { MLR_NULL, MLR_FALSE, MLR_TRUE, MLR_NUMBER, MLR_STRING, MLR_LIST, MLR_OBJECT } mlr_kind;

typedef struct mlr_json mlr_json;

struct mlr_json {
  mlr_kind kind;
  /** Of a member of an object. */
  mlr_text name;
  /** Of a string. */
  mlr_text string;
  double number;
  /** Of a list or an object; the others follow by `next`. */
  mlr_json *first;
  mlr_json *next;
};

/** @return NULL when it is not JSON, or nested more than 32 deep; to be freed */
mlr_json *mlr_json_parse(const char *bytes, size_t length);
void mlr_json_free(mlr_json *json);

/** @return NULL when this is no object, or has no such member; the last where there are several */
const mlr_json *mlr_json_member(const mlr_json *of, const char *name);
bool mlr_json_is(const mlr_json *json, mlr_kind kind);

#endif
