/*
 * A process of an app on a phone, for a test that is the rest of the phone: it sends what happens as lines of JSON, and gets
 * what the engine does as such lines, ending with {"t":"done"}. Without any more input the process ends in good order.
 *
 *   {"do":"world","now","monotonic","random","online"}    what host functions answer from now on
 *   {"do":"act","call","action","args"}                   args is the text of a list
 *   {"do":"answered","request","status", …}
 *   {"do":"entered"} {"do":"left"} {"do":"changed"} {"do":"unlocked"}
 *   {"do":"fault","kind"}                                 of the disk
 *   {"do":"inspect"}                                      tells bodies in memory, and the state
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faulty_vfs.h"
// Not the header: what is only in memory can be seen by nobody else.
#include "mlr_core.m"

static struct {
  int64_t now;
  int64_t monotonic;
  double random;
  bool is_online;
} world;

static void tell(mlr_text *line) {
  mlr_put(line, "}\n");
  fwrite(line->at, 1, line->length, stdout);
  mlr_text_free(line);
}

static mlr_text telling(const char *what) {
  mlr_text line = {0};
  mlr_put(&line, "{\"t\":\"");
  mlr_put(&line, what);
  mlr_put(&line, "\"");
  return line;
}

static void member(mlr_text *line, const char *name) {
  mlr_put(line, ",\"");
  mlr_put(line, name);
  mlr_put(line, "\":");
}

static void text_member(mlr_text *line, const char *name, const char *text) {
  member(line, name);
  mlr_put_json(line, text, strlen(text));
}

static void number_member(mlr_text *line, const char *name, int64_t number) {
  member(line, name);
  mlr_put_number(line, number);
}

static int64_t now_of_world(void *self) {
  (void)self;
  return world.now;
}

static int64_t monotonic_of_world(void *self) {
  (void)self;
  return world.monotonic;
}

static double random_of_world(void *self) {
  (void)self;
  return world.random;
}

static void uuid_of_world(void *self, char text[37]) {
  static int made;
  (void)self;
  snprintf(text, 37, "00000000-0000-4000-8000-%012x", (unsigned)++made);
}

static bool is_online(void *self) {
  (void)self;
  return world.is_online;
}

static char *fact_of_world(void *self, mlr_fact fact) {
  static const char *const FACTS[] = {
      [MLR_LAUNCH] = "{\"foreground\":true,\"version\":\"3.2.0\",\"build\":\"320\"}",
      [MLR_CONTEXT] = "{\"os\":{\"name\":\"iOS\",\"version\":\"18.1\"}}",
      [MLR_CONTEXT_WITH_DEVICE_ID] = "{\"device\":{\"id\":\"vendor\"},\"os\":{\"name\":\"iOS\",\"version\":\"18.1\"}}",
      [MLR_CHANGING_CONTEXT] = "{\"locale\":\"de-DE\"}",
  };
  (void)self;
  return strdup(FACTS[fact]);
}

static void tell_request(void *self, const mlr_request *request) {
  (void)self;
  mlr_text line = telling("request");
  number_member(&line, "id", (int64_t)request->id);
  text_member(&line, "url", request->url);
  number_member(&line, "inAllMs", request->in_all_ms);
  number_member(&line, "mostBytes", (int64_t)request->most_bytes);
  member(&line, "headers");
  for (size_t at = 0; at < request->header_count; at++) {
    mlr_put(&line, at == 0 ? "{" : ",");
    mlr_put_json(&line, request->headers[at].name, strlen(request->headers[at].name));
    mlr_put(&line, ":");
    mlr_put_json(&line, request->headers[at].value, strlen(request->headers[at].value));
  }
  mlr_put(&line, "}");
  if (request->body != NULL) {
    member(&line, "body");
    mlr_put(&line, "\"");
    mlr_put_base64(&line, request->body, request->body_bytes);
    mlr_put(&line, "\"");
  }
  tell(&line);
}

static void tell_cancel(void *self, uint64_t request) {
  (void)self;
  mlr_text line = telling("cancel");
  number_member(&line, "id", (int64_t)request);
  tell(&line);
}

static void tell_answer(void *self, uint64_t call, bool is_success, const char *json) {
  (void)self;
  mlr_text line = telling("answer");
  number_member(&line, "call", (int64_t)call);
  member(&line, "ok");
  mlr_put(&line, is_success ? "true" : "false");
  member(&line, "value");
  mlr_put(&line, json);
  tell(&line);
}

static void tell_signal(void *self, const char *json) {
  (void)self;
  mlr_text line = telling("signal");
  member(&line, "signal");
  mlr_put(&line, json);
  tell(&line);
}

static void tell_log(void *self, int level, const char *text) {
  (void)self;
  mlr_text line = telling("log");
  number_member(&line, "level", level);
  text_member(&line, "text", text);
  tell(&line);
}

static void tell_rested(void *self) {
  (void)self;
  mlr_text line = telling("rested");
  tell(&line);
}

static double number_of(const mlr_json *line, const char *name) {
  const mlr_json *found = mlr_json_member(line, name);
  return mlr_json_is(found, MLR_NUMBER) ? found->number : 0;
}

/** NULL where there is no such text. */
static const char *text_of(const mlr_json *line, const char *name) {
  const mlr_json *found = mlr_json_member(line, name);
  return mlr_json_is(found, MLR_STRING) ? found->string.at : NULL;
}

static bool is_true(const mlr_json *line, const char *name) {
  return mlr_json_is(mlr_json_member(line, name), MLR_TRUE);
}

static void inspect(mlr_core *core) {
  mlr_text line = telling("inspected");
  mlr_map state = {0};
  mlr_store_state(&core->store, &state);
  member(&line, "state");
  mlr_put_map(&line, &state);
  mlr_map_clear(&state);
  member(&line, "memory");
  mlr_put(&line, "[");
  for (size_t at = 0; at < core->store.memory.rows.count; at++) {
    const mlr_text *body = &core->store.memory.rows.at[at].body;
    if (at > 0) mlr_put(&line, ",");
    mlr_put_json(&line, body->at, body->length);
  }
  mlr_put(&line, "]");
  tell(&line);
}

static void answer_request(mlr_core *core, const mlr_json *line) {
  const mlr_json *body = mlr_json_member(line, "body");
  const mlr_answer answer = {
      .status = (int)number_of(line, "status"),
      .body = mlr_json_is(body, MLR_STRING) ? body->string.at : "",
      .body_bytes = mlr_json_is(body, MLR_STRING) ? body->string.length : 0,
      .is_cut = is_true(line, "isCut"),
      .trouble = text_of(line, "trouble"),
      .event_index = text_of(line, "eventIndex"),
      .retry_after = text_of(line, "retryAfter"),
      .location = text_of(line, "location"),
      .etag = text_of(line, "etag"),
  };
  mlr_answered(core, (uint64_t)number_of(line, "request"), &answer);
}

static void obey(mlr_core *core, const mlr_json *line) {
  const char *what = text_of(line, "do");
  if (strcmp(what, "world") == 0) {
    world.now = (int64_t)number_of(line, "now");
    world.monotonic = (int64_t)number_of(line, "monotonic");
    world.random = number_of(line, "random");
    world.is_online = is_true(line, "online");
  } else if (strcmp(what, "act") == 0) {
    const mlr_text *args = &mlr_json_member(line, "args")->string;
    mlr_act(core, (uint64_t)number_of(line, "call"), text_of(line, "action"), args->at, args->length);
  } else if (strcmp(what, "answered") == 0) {
    answer_request(core, line);
  } else if (strcmp(what, "entered") == 0) {
    mlr_entered(core, text_of(line, "url"));
  } else if (strcmp(what, "left") == 0) {
    mlr_left(core);
  } else if (strcmp(what, "unlocked") == 0) {
    mlr_unlocked(core);
  } else if (strcmp(what, "changed") == 0) {
    mlr_changed(core);
  } else if (strcmp(what, "fault") == 0) {
    set_fault(text_of(line, "kind"));
  } else {
    inspect(core);
  }
}

int main(int count, char **arguments) {
  if (count != 2) return 2;
  const mlr_host host = {
      .now = now_of_world,
      .monotonic = monotonic_of_world,
      .random = random_of_world,
      .uuid = uuid_of_world,
      .is_online = is_online,
      .fact = fact_of_world,
      .request = tell_request,
      .cancel = tell_cancel,
      .answer = tell_answer,
      .signal = tell_signal,
      .log = tell_log,
      .rested = tell_rested,
  };
  use_faulty_vfs();
  mlr_core *core = mlr_new(&host, arguments[1], "18.1", "8.1.1");
  char *line = NULL;
  size_t room = 0;
  for (ssize_t length; (length = getline(&line, &room, stdin)) > 0;) {
    mlr_json *parsed = mlr_json_parse(line, (size_t)length);
    obey(core, parsed);
    mlr_json_free(parsed);
    mlr_text done = telling("done");
    tell(&done);
    fflush(stdout);
  }
  free(line);
  mlr_close(core);
  return 0;
}
