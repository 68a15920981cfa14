#include "mlr_core.h"

#include <stdlib.h>
#include <string.h>

#include "mlr_batch.h"
#include "mlr_sender.h"
#include "mlr_signals.h"
#include "mlr_source_config.h"

static const char *const KEPT_BY_PURGE[] = {"tracking", "marker", "source", "trimmed", "refused", "purged", "refusals", "plain"};

struct mlr_core {
  mlr_host host;
  mlr_text os_version;
  mlr_text platform_version;
  mlr_store store;
  mlr_guard guard;
  mlr_identity identity;
  mlr_rules rules;
  mlr_diagnostics diagnostics;
  mlr_sender sender;
  mlr_source_config source_config;
  uint64_t last_request;

  bool is_open;
  /** The page was told that consent is awaited, because the guard could not be read. */
  bool is_guard_awaited;
  mlr_settings settings;
  /** Of an event that is stored on leaving; no bytes: there is none. */
  mlr_text tail;
};

/** An action that is being done: what it was given, and where its answer goes. */
typedef struct {
  mlr_core *core;
  uint64_t call;
  /** The first argument, or NULL. */
  const mlr_json *argument;
} action_call;

// ---- Answers

static void succeed(mlr_core *core, uint64_t call, mlr_text *json) {
  core->host.answer(core->host.self, call, true, json->at);
  mlr_text_free(json);
}

static void succeed_with_null(const action_call *action) {
  action->core->host.answer(action->core->host.self, action->call, true, "null");
}

static void fail(const action_call *action, const char *code, const char *detail) {
  mlr_text json = {0};
  mlr_put(&json, "{\"code\":\"");
  mlr_put(&json, code);
  mlr_put(&json, "\",\"detail\":");
  mlr_put_json(&json, detail, strlen(detail));
  mlr_put(&json, "}");
  action->core->host.answer(action->core->host.self, action->call, false, json.at);
  mlr_text_free(&json);
}

static void bad_argument(const action_call *action, const char *detail) {
  fail(action, "BAD_ARGUMENT", detail);
}

static bool is_not_open(const action_call *action) {
  if (!action->core->is_open) fail(action, "NOT_OPEN", "open comes first");
  return !action->core->is_open;
}

static void put_report(mlr_text *to, mlr_core *core) {
  mlr_put_report(to, &core->diagnostics, &core->store);
}

static void put_drained(mlr_text *to, mlr_core *core, int64_t sent, const char *outcome, int64_t retry_after_ms) {
  mlr_put(to, "\"sent\":");
  mlr_put_number(to, sent);
  mlr_put(to, ",\"remaining\":");
  mlr_put_number(to, mlr_store_count(&core->store));
  mlr_put(to, ",\"outcome\":\"");
  mlr_put(to, outcome);
  mlr_put(to, "\",");
  if (retry_after_ms >= 0) {
    mlr_put(to, "\"retryAfterMs\":");
    mlr_put_number(to, retry_after_ms);
    mlr_put(to, ",");
  }
  put_report(to, core);
  mlr_put(to, "}");
}

static void drain_ended(void *self, const mlr_drain *drain, const char *outcome, int64_t retry_after_ms) {
  mlr_core *core = self;
  mlr_text json = {0};
  if (drain->call != 0) {
    mlr_put(&json, "{");
    put_drained(&json, core, drain->sent, outcome, retry_after_ms);
    succeed(core, drain->call, &json);
    return;
  }
  mlr_put(&json, "{\"t\":\"drained\",");
  put_drained(&json, core, drain->sent, outcome, retry_after_ms);
  core->host.signal(core->host.self, json.at);
  mlr_text_free(&json);
  core->host.rested(core->host.self);
}

static void storage_failed(void *self, const char *code, const char *detail) {
  mlr_core *core = self;
  mlr_storage_failed(&core->diagnostics, code, detail);
}

static void storage_lost(void *self, int64_t events) {
  mlr_core *core = self;
  mlr_storage_lost(&core->diagnostics, events);
}

// ---- What values mean

/** @return whether the guard holds those that are guarded */
static bool put_guard(mlr_core *core, const mlr_map *changes) {
  const char *trouble = mlr_guard_put(&core->guard, changes);
  if (trouble != NULL) storage_failed(core, "STORAGE_IO", trouble);
  return trouble == NULL && mlr_guard_takes(changes);
}

static void follow(mlr_core *core, const mlr_map *changes) {
  const mlr_text *tracking = mlr_map_value(changes, "tracking");
  const mlr_text *source = mlr_map_value(changes, "source");
  if (tracking != NULL && strcmp(tracking->at, "disabled") == 0) {
    mlr_source_config_abort(&core->source_config);
    mlr_sender_abort(&core->sender);
  }
  if (source != NULL) mlr_rules_follow(&core->rules, source);
}

/** The guard can be read at last: the page hears whether tracking is allowed, and then opens again. */
static void look_at_guard(mlr_core *core) {
  if (!core->is_guard_awaited || mlr_guard_trouble(&core->guard) != NULL) return;
  core->is_guard_awaited = false;
  // What closed the one closed the other.
  mlr_store_look_again(&core->store);
  mlr_tracking tracking = mlr_identity_tracking(&core->identity);
  if (tracking != MLR_AWAITING_CONSENT) mlr_signal_tracking(&core->host, mlr_tracking_name(tracking));
}

// ---- Actions

/** A marker of the app that runs. */
static mlr_text marker_of_now(mlr_core *core) {
  char *json = core->host.fact(core->host.self, MLR_LAUNCH);
  mlr_json *launch = mlr_json_parse(json, strlen(json));
  mlr_map release = {0};
  mlr_text marker = {0};
  for (size_t at = 0; at < 2; at++) {
    const char *name = at == 0 ? "version" : "build";
    const mlr_json *value = mlr_json_member(launch, name);
    if (mlr_json_is(value, MLR_STRING)) mlr_map_put(&release, name, value->string.at, value->string.length);
  }
  mlr_put_map(&marker, &release);
  mlr_map_clear(&release);
  mlr_json_free(launch);
  free(json);
  return marker;
}

/**
 * `"launch":{…}`, with the marker of the guard, else of the database; one that is damaged counts as none. One that cannot be read is there, so this
 * is no first start: the app counts as unchanged, and a later start tells of an update.
 */
static void put_launch(mlr_text *to, mlr_core *core) {
  bool is_unread = mlr_guard_trouble(&core->guard) != NULL;
  const mlr_text *marker = mlr_guard_value(&core->guard, "marker");
  mlr_map stored = {0};
  mlr_text of_now = {0};
  if (marker == NULL && is_unread) {
    of_now = marker_of_now(core);
    marker = &of_now;
  } else if (marker == NULL) {
    marker = mlr_store_value(&core->store, "marker", &stored);
  }
  mlr_json *parsed = marker == NULL ? NULL : mlr_json_parse(marker->at, marker->length);
  mlr_put_fact(to, &core->host, "launch", MLR_LAUNCH);
  to->length--;
  mlr_put(to, to->at[to->length - 1] == '{' ? "\"marker\":" : ",\"marker\":");
  if (mlr_json_is(parsed, MLR_OBJECT)) mlr_put_bytes(to, marker->at, marker->length);
  else mlr_put(to, "null");
  mlr_put(to, core->tail.length > 0 ? ",\"opened\":true}" : ",\"opened\":false}");
  mlr_json_free(parsed);
  mlr_map_clear(&stored);
  mlr_text_free(&of_now);
}

static void open_engine(const action_call *action) {
  mlr_core *core = action->core;
  mlr_settings settings;
  const char *wrong = mlr_settings_read(&settings, action->argument);
  if (wrong != NULL) {
    mlr_settings_free(&settings);
    bad_argument(action, wrong);
    return;
  }
  mlr_settings_free(&core->settings);
  core->settings = settings;
  core->is_open = true;
  core->diagnostics.level = settings.log_level;
  core->identity.requires_consent = settings.require_consent;
  const char *unread = mlr_guard_trouble(&core->guard);
  mlr_tracking tracking = mlr_identity_tracking(&core->identity);
  core->is_guard_awaited = unread != NULL && tracking == MLR_AWAITING_CONSENT;
  if (unread != NULL) storage_failed(core, "STORAGE_OPEN", "guard.json cannot be read");

  mlr_text json = {0};
  mlr_put(&json, "{\"tracking\":\"");
  mlr_put(&json, mlr_tracking_name(tracking));
  mlr_put(&json, "\",");
  put_launch(&json, core);
  mlr_put(&json, ",");
  mlr_put_fact(&json, &core->host, "context", settings.collect_device_id ? MLR_CONTEXT_WITH_DEVICE_ID : MLR_CONTEXT);
  if (tracking != MLR_AWAITING_CONSENT) {
    mlr_map state = {0};
    mlr_identity_restore(&core->identity);
    mlr_store_state(&core->store, &state);
    mlr_put(&json, ",\"state\":");
    mlr_put_map(&json, &state);
    mlr_map_clear(&state);
  }
  mlr_put(&json, ",\"queued\":");
  mlr_put_number(&json, tracking == MLR_AWAITING_CONSENT ? 0 : mlr_store_count(&core->store));
  mlr_put(&json, ",\"storage\":\"");
  mlr_put(&json, mlr_store_kind(&core->store));
  mlr_put(&json, "\",");
  put_report(&json, core);
  mlr_put(&json, "}");
  succeed(core, action->call, &json);
}

/** Of new rows: under the write key and the threshold of `open`. The texts are lent. */
static mlr_change added(const mlr_core *core, const mlr_text *bodies, size_t count) {
  return (mlr_change){
      .added = bodies,
      .added_count = count,
      .write_key = core->settings.write_key,
      .keep_at_most = core->settings.db_threshold_count,
  };
}

/** @return the bodies, lent by the JSON, or NULL when this is no list of rows; to be freed */
static mlr_text *read_bodies(const mlr_json *rows, size_t *count) {
  *count = 0;
  if (!mlr_json_is(rows, MLR_LIST)) return NULL;
  size_t length = 0;
  for (const mlr_json *row = rows->first; row != NULL; row = row->next) length++;
  mlr_text *bodies = mlr_memory((length + 1) * sizeof *bodies);
  for (const mlr_json *row = rows->first; row != NULL; row = row->next) {
    const mlr_json *body = mlr_json_member(row, "body");
    if (!mlr_json_is(body, MLR_STRING)) {
      free(bodies);
      return NULL;
    }
    bodies[(*count)++] = body->string;
  }
  return bodies;
}

static void push(const action_call *action) {
  mlr_core *core = action->core;
  if (is_not_open(action)) return;
  size_t count;
  mlr_map state = {0};
  mlr_text *bodies = read_bodies(mlr_json_member(action->argument, "rows"), &count);
  if (bodies != NULL && mlr_map_read(&state, mlr_json_member(action->argument, "state"))) {
    mlr_change change = added(core, bodies, count);
    change.state = state;
    // The guard comes after: a marker there says that the event of it is stored.
    bool is_in_memory = mlr_store_commit(&core->store, &change);
    put_guard(core, &state);
    follow(core, &state);
    mlr_text json = {0};
    mlr_put(&json, "{\"queued\":");
    mlr_put_number(&json, mlr_store_count(&core->store));
    mlr_put(&json, is_in_memory ? ",\"inMemory\":true," : ",\"inMemory\":false,");
    put_report(&json, core);
    mlr_put(&json, "}");
    succeed(core, action->call, &json);
  } else {
    bad_argument(action, "rows is a list of {body}, state an object of texts and nulls");
  }
  mlr_map_clear(&state);
  free(bodies);
}

/** The guard comes first: an opt-out that it holds is never lost. */
static void put_state(const action_call *action) {
  mlr_core *core = action->core;
  mlr_map changes = {0};
  if (mlr_map_read(&changes, action->argument)) {
    bool is_guarded = put_guard(core, &changes);
    bool is_in_memory = mlr_store_commit_state(&core->store, &changes);
    follow(core, &changes);
    // In one of the two places an opt-out holds; the end of one does not.
    const mlr_text *tracking = mlr_map_value(&changes, "tracking");
    bool is_enabling = tracking != NULL && strcmp(tracking->at, "enabled") == 0;
    bool is_lost = is_in_memory == is_guarded ? is_enabling : is_in_memory;
    mlr_text json = {0};
    mlr_put(&json, is_lost ? "{\"inMemory\":true}" : "{\"inMemory\":false}");
    succeed(core, action->call, &json);
  } else {
    bad_argument(action, "state is an object of texts and nulls");
  }
  mlr_map_clear(&changes);
}

static void put_tail(const action_call *action) {
  mlr_text *tail = &action->core->tail;
  if (mlr_json_is(action->argument, MLR_STRING)) {
    mlr_text_free(tail);
    mlr_put_bytes(tail, action->argument->string.at, action->argument->string.length);
    succeed_with_null(action);
  } else if (mlr_json_is(action->argument, MLR_NULL)) {
    mlr_text_free(tail);
    succeed_with_null(action);
  } else {
    bad_argument(action, "a tail is a text or null");
  }
}

static void drain(const action_call *action) {
  mlr_core *core = action->core;
  if (is_not_open(action)) return;
  const mlr_json *force = mlr_json_member(action->argument, "force");
  if (!mlr_json_is(force, MLR_TRUE) && !mlr_json_is(force, MLR_FALSE)) {
    bad_argument(action, "force is true or false");
    return;
  }
  if (mlr_sender_drain(&core->sender, &core->settings, force->kind == MLR_TRUE, action->call)) return;
  mlr_text json = {0};
  mlr_put(&json, "{");
  put_drained(&json, core, 0, "BUSY", -1);
  succeed(core, action->call, &json);
}

static bool is_kept_by_purge(const char *key) {
  for (size_t at = 0; at < sizeof KEPT_BY_PURGE / sizeof *KEPT_BY_PURGE; at++) {
    if (strcmp(KEPT_BY_PURGE[at], key) == 0) return true;
  }
  return false;
}

static void purge(const action_call *action) {
  mlr_core *core = action->core;
  const mlr_json *what = action->argument;
  bool is_all = mlr_json_is(what, MLR_STRING) && strcmp(what->string.at, "all") == 0;
  if (!is_all && !(mlr_json_is(what, MLR_STRING) && strcmp(what->string.at, "events") == 0)) {
    bad_argument(action, "events or all");
    return;
  }
  mlr_map changes = {0};
  if (is_all) {
    mlr_map state = {0};
    mlr_store_state(&core->store, &state);
    for (size_t at = 0; at < state.count; at++) {
      if (!is_kept_by_purge(state.at[at].key)) mlr_map_put_removal(&changes, state.at[at].key);
    }
    mlr_map_put_removal(&changes, "anonymousId");
    put_guard(core, &changes);
    mlr_map_clear(&state);
  }
  mlr_map_put_number(&changes, "purged", mlr_store_counter(&core->store, "purged") + mlr_store_count(&core->store));
  mlr_store_purge(&core->store, &changes);
  mlr_map_clear(&changes);
  succeed_with_null(action);
}

static void config(const action_call *action) {
  mlr_core *core = action->core;
  if (is_not_open(action)) return;
  if (!mlr_json_is(action->argument, MLR_OBJECT)) {
    bad_argument(action, "an object with etag, if there is one");
    return;
  }
  const mlr_json *etag = mlr_json_member(action->argument, "etag");
  mlr_source_config_fetch(&core->source_config, action->call, &core->settings,
                          mlr_json_is(etag, MLR_STRING) ? &etag->string : NULL);
}

// ---- The surface

mlr_core *mlr_new(const mlr_host *host, const char *folder, const char *os_version, const char *platform_version) {
  mlr_core *core = mlr_memory(sizeof *core);
  core->host = *host;
  mlr_put(&core->os_version, os_version);
  mlr_put(&core->platform_version, platform_version == NULL ? "" : platform_version);
  core->store.folder = mlr_text_of(folder, strlen(folder)).at;
  core->store.failed = storage_failed;
  core->store.lost = storage_lost;
  core->store.self = core;
  core->guard.folder = mlr_text_of(folder, strlen(folder)).at;
  core->identity.store = &core->store;
  core->identity.guard = &core->guard;
  core->rules.host = &core->host;
  core->rules.store = &core->store;
  core->diagnostics.host = &core->host;
  core->sender.host = &core->host;
  core->sender.store = &core->store;
  core->sender.rules = &core->rules;
  core->sender.diagnostics = &core->diagnostics;
  core->sender.identity = &core->identity;
  core->sender.os_version = core->os_version.at;
  core->sender.ended = drain_ended;
  core->sender.self = core;
  core->sender.last_request = &core->last_request;
  core->source_config.host = &core->host;
  core->source_config.identity = &core->identity;
  core->source_config.os_version = core->os_version.at;
  core->source_config.platform_version = core->platform_version.at;
  core->source_config.last_request = &core->last_request;
  return core;
}

void mlr_close(mlr_core *core) {
  mlr_sender_free(&core->sender);
  mlr_rules_free(&core->rules);
  mlr_diagnostics_free(&core->diagnostics);
  mlr_guard_free(&core->guard);
  mlr_store_free(&core->store);
  mlr_settings_free(&core->settings);
  mlr_text_free(&core->tail);
  mlr_text_free(&core->os_version);
  mlr_text_free(&core->platform_version);
  free(core);
}

void mlr_act(mlr_core *core, uint64_t call, const char *name, const char *args, size_t args_bytes) {
  static const struct {
    const char *name;
    void (*does)(const action_call *action);
  } ACTIONS[] = {
      {"open", open_engine}, {"push", push}, {"state", put_state}, {"tail", put_tail},
      {"drain", drain},      {"purge", purge}, {"config", config},
  };
  look_at_guard(core);
  mlr_json *list = mlr_json_parse(args, args_bytes);
  action_call action = {core, call, mlr_json_is(list, MLR_LIST) ? list->first : NULL};
  size_t at = 0;
  while (at < sizeof ACTIONS / sizeof *ACTIONS && strcmp(ACTIONS[at].name, name) != 0) at++;
  if (at < sizeof ACTIONS / sizeof *ACTIONS) ACTIONS[at].does(&action);
  else fail(&action, "UNKNOWN_ACTION", name);
  mlr_json_free(list);
}

void mlr_answered(mlr_core *core, uint64_t request, const mlr_answer *answer) {
  if (mlr_sender_answered(&core->sender, request, answer)) return;
  mlr_source_config_answered(&core->source_config, request, answer);
}

void mlr_entered(mlr_core *core, const char *url) {
  look_at_guard(core);
  mlr_signal_start(&core->host, url);
}

void mlr_left(mlr_core *core) {
  look_at_guard(core);
  bool is_stored = core->tail.length > 0 && core->is_open && mlr_identity_tracking(&core->identity) == MLR_ENABLED;
  if (is_stored) {
    char uuid[37];
    core->host.uuid(core->host.self, uuid);
    mlr_text event = mlr_batch_event(uuid, &core->tail, core->host.now(core->host.self));
    mlr_change change = added(core, &event, 1);
    mlr_store_commit(&core->store, &change);
    mlr_text_free(&event);
  }
  mlr_text_free(&core->tail);
  mlr_signal_stop(&core->host, is_stored);
  bool is_sending = core->is_open && mlr_sender_drain(&core->sender, &core->settings, false, 0);
  if (!is_sending) core->host.rested(core->host.self);
}

void mlr_unlocked(mlr_core *core) {
  look_at_guard(core);
}

void mlr_changed(mlr_core *core) {
  look_at_guard(core);
  mlr_signal_network(&core->host);
}
