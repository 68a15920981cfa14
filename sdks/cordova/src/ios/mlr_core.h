/*
 * The engine behind the bridge on iOS: the queue, its storage in SQLite, and every decision about sending. No Apple header, no
 * thread, no socket and no clock of its own: what it needs of the world is an mlr_host, so that the same file runs on Linux
 * under sanitizers.
 *
 * The files mlr_* are plain C. Their suffix is .m because Cordova would not have Xcode compile a .c: it takes it for a resource.
 *
 * All functions are for one thread at a time, in practice one serial queue. Texts are UTF-8 and end with a zero byte; those
 * that go to the host are only lent. Memory that cannot be had ends the process, as iOS itself would.
 *
 * See sdks/cordova/BRIDGE.md for actions, answers and signals, and contracts/cordova-sdk.md §14 to §17 and §21 for the rules.
 */
#ifndef MLR_CORE_H
#define MLR_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mlr_core mlr_core;

typedef struct {
  const char *name;
  const char *value;
} mlr_header;

/** POST where there is a body, else GET. Redirects are not followed. */
typedef struct {
  uint64_t id;
  const char *url;
  const mlr_header *headers;
  size_t header_count;
  const void *body;
  size_t body_bytes;
  /** From now until the answer is read. */
  int in_all_ms;
  /** Of the answer's body that are read. */
  size_t most_bytes;
} mlr_request;

typedef struct {
  /** 0: there was no answer. */
  int status;
  const char *body;
  size_t body_bytes;
  /** The body was longer than asked for, or broke off. */
  bool is_cut;
  /** Why there was no answer; without address and headers of the request. */
  const char *trouble;
  /** Headers of the answer; NULL where it had none. */
  const char *event_index;
  const char *retry_after;
  const char *location;
  const char *etag;
} mlr_answer;

/** What the platform knows, each an object of JSON. */
typedef enum {
  /** `launch` of BRIDGE.md without its marker. */
  MLR_LAUNCH,
  /** `context`, all of it. */
  MLR_CONTEXT,
  MLR_CONTEXT_WITH_DEVICE_ID,
  /** Those members of `context` that may change. */
  MLR_CHANGING_CONTEXT
} mlr_fact;

/** The world of an engine. Nothing here may call the engine before it has returned. */
typedef struct {
  /** First argument of each function. */
  void *self;
  /** Wall clock, ms since 1970: for times that are told. It may jump. */
  int64_t (*now)(void *self);
  /** Ms of a clock that only goes on: for waits. */
  int64_t (*monotonic)(void *self);
  /** From 0 to below 1. */
  double (*random)(void *self);
  /** Writes a random UUID, version 4, in lower case. */
  void (*uuid)(void *self, char text[37]);
  bool (*is_online)(void *self);
  /** @return JSON from malloc, which the engine frees */
  char *(*fact)(void *self, mlr_fact fact);
  /** Sends; mlr_answered() is called once for it, whatever happens. What the request points to is lent for this call. */
  void (*request)(void *self, const mlr_request *request);
  /** Nobody waits for this request any longer. */
  void (*cancel)(void *self, uint64_t request);
  /** The answer of an action, once for each. @param json of the success value, or of {code, detail} */
  void (*answer)(void *self, uint64_t call, bool is_success, const char *json);
  void (*signal)(void *self, const char *json);
  /** A line for the console or the log; the level allows it. @param level 0 (always) to 5 (verbose) */
  void (*log)(void *self, int level, const char *text);
  /** What leaving the foreground began has ended. */
  void (*rested)(void *self);
} mlr_host;

/**
 * @param folder of events.db and guard.json; made when it is needed
 * @param os_version for the User-Agent, such as 18.1
 * @param platform_version of the Cordova platform, or NULL
 */
mlr_core *mlr_new(const mlr_host *host, const char *folder, const char *os_version, const char *platform_version);

/** Closes its files. Actions that are not answered yet never are. */
void mlr_close(mlr_core *core);

/**
 * An action of BRIDGE.md other than `listen` and `advertId`.
 *
 * @param call given back with the answer
 * @param args the list of arguments as JSON
 */
void mlr_act(mlr_core *core, uint64_t call, const char *action, const char *args, size_t args_bytes);

/** @param request one that nobody waits for any longer is ignored */
void mlr_answered(mlr_core *core, uint64_t request, const mlr_answer *answer);

/** The app came to the foreground. @param url the link that brought it there, or NULL */
void mlr_entered(mlr_core *core, const char *url);

/** It left: the prepared event is stored and everything sent, without any JavaScript. */
void mlr_left(mlr_core *core);

/** The phone was unlocked: files that iOS kept closed can be read from now on. */
void mlr_unlocked(mlr_core *core);

/** The network, or a fact of `context`, changed. */
void mlr_changed(mlr_core *core);

#endif
