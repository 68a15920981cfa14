#include "mlr_sender.h"

#include <string.h>

#include "mlr_batch.h"

static const int64_t MOST_BYTES = 512000;
static const size_t GZIP_FROM_BYTES = 1024;
static const int IN_ALL_MS = 30000;
static const size_t ANSWER_BYTES = 4096;
static const size_t ANSWER_CHARACTERS = 200;

enum { NO_INDEX = -1 };

static mlr_drain *current(mlr_sender *sender) {
  return &sender->drains[0];
}

static int64_t now(const mlr_sender *sender) {
  return sender->host->now(sender->host->self);
}

static bool is_success(const mlr_answer *answer) {
  return answer->status >= 200 && answer->status < 300;
}

/** @return why nothing may be sent, whatever the server would say, or NULL */
static const char *barred(mlr_sender *sender, const mlr_settings *settings) {
  switch (mlr_identity_tracking(sender->identity)) {
    case MLR_DISABLED:
      return "OPTED_OUT";
    case MLR_AWAITING_CONSENT:
      return "AWAITING_CONSENT";
    case MLR_ENABLED:
      break;
  }
  if (mlr_rules_is_source_disabled(sender->rules)) return "SOURCE_DISABLED";
  return settings->data_plane_url.length == 0 ? "NO_DATA_PLANE_URL" : sender->rules->stopped_for;
}

static const char *failed(mlr_sender *sender, const char *outcome, mlr_text *detail) {
  mlr_failed(sender->diagnostics, outcome, detail->at);
  mlr_text_free(detail);
  return outcome;
}

static mlr_text answered_status(const mlr_answer *answer) {
  mlr_text text = {0};
  mlr_put(&text, "the server answered ");
  mlr_put_number(&text, answer->status);
  return text;
}

mlr_text mlr_authorization(const mlr_text *write_key) {
  mlr_text with_colon = mlr_text_of(write_key->at, write_key->length);
  mlr_text header = {0};
  mlr_put(&with_colon, ":");
  mlr_put(&header, "Basic ");
  mlr_put_base64(&header, with_colon.at, with_colon.length);
  mlr_text_free(&with_colon);
  return header;
}

mlr_text mlr_user_agent(const mlr_settings *settings, const char *os_version) {
  mlr_text header = {0};
  mlr_put(&header, "service-sdk-cordova/");
  mlr_put_bytes(&header, settings->sdk_version.at, settings->sdk_version.length);
  mlr_put(&header, " (iOS ");
  mlr_put(&header, os_version);
  mlr_put(&header, ")");
  return header;
}

static void send_request(mlr_sender *sender, const mlr_text *body) {
  const mlr_settings *settings = &current(sender)->settings;
  mlr_text url = mlr_text_of(settings->data_plane_url.at, settings->data_plane_url.length);
  mlr_text authorization = mlr_authorization(&sender->rows.at[0].write_key);
  mlr_text user_agent = mlr_user_agent(settings, sender->os_version);
  mlr_text id = mlr_identity_anonymous_id(sender->identity);
  mlr_text encoded_id = {0};
  mlr_put(&url, "/v1/batch");
  mlr_put_base64(&encoded_id, id.at, id.length);

  mlr_header headers[5] = {
      {"Authorization", authorization.at}, {"User-Agent", user_agent.at}, {"Content-Type", "application/json"}};
  size_t count = 3;
  if (sender->is_gzip) headers[count++] = (mlr_header){"Content-Encoding", "gzip"};
  if (id.length > 0) headers[count++] = (mlr_header){"AnonymousId", encoded_id.at};
  sender->request = ++*sender->last_request;
  sender->sent_bytes = body->length;
  sender->began_at = sender->host->monotonic(sender->host->self);
  const mlr_request request = {
      .id = sender->request,
      .url = url.at,
      .headers = headers,
      .header_count = count,
      .body = body->at,
      .body_bytes = body->length,
      .in_all_ms = IN_ALL_MS,
      .most_bytes = ANSWER_BYTES,
  };
  sender->host->request(sender->host->self, &request);
  mlr_text_free(&url);
  mlr_text_free(&authorization);
  mlr_text_free(&user_agent);
  mlr_text_free(&id);
  mlr_text_free(&encoded_id);
}

/** The first part of the batch; with gzip where that is wanted. */
static void post(mlr_sender *sender, bool is_plain_again) {
  const mlr_settings *settings = &current(sender)->settings;
  size_t events = sender->ends[sender->part_count - 1];
  bool is_repeat = mlr_store_begin(sender->store, sender->rows.at, events);
  mlr_text text = mlr_batch_text(sender->rows.at, events, is_repeat, now(sender));
  sender->text_bytes = text.length;
  sender->is_plain_again = is_plain_again;
  bool wants_gzip = settings->gzip && !is_plain_again && text.length >= GZIP_FROM_BYTES &&
                    mlr_rules_may_send_gzip(sender->rules, settings->data_plane_url.at);
  mlr_text compressed = {0};
  if (wants_gzip) compressed = mlr_gzip(&text);
  sender->is_gzip = compressed.length > 0;
  if (sender->diagnostics->level >= MLR_LEVEL_VERBOSE) {
    mlr_text line = {0};
    mlr_put(&line, "payload ");
    mlr_put_bytes(&line, text.at, text.length);
    mlr_log(sender->diagnostics, MLR_LEVEL_VERBOSE, &line);
    mlr_text_free(&line);
  }
  send_request(sender, sender->is_gzip ? &compressed : &text);
  mlr_text_free(&compressed);
  mlr_text_free(&text);
}

static void log_batch(mlr_sender *sender, size_t events, const mlr_answer *answer) {
  mlr_text line = {0};
  mlr_put(&line, "batch of ");
  mlr_put_number(&line, (int64_t)events);
  mlr_put(&line, " events, ");
  mlr_put_number(&line, (int64_t)sender->text_bytes);
  mlr_put(&line, " bytes");
  if (sender->is_gzip) {
    mlr_put(&line, ", ");
    mlr_put_number(&line, (int64_t)sender->sent_bytes);
    mlr_put(&line, " compressed");
  }
  mlr_put(&line, ": ");
  if (answer->status == 0) mlr_put(&line, "no answer");
  else mlr_put_number(&line, answer->status);
  mlr_put(&line, " in ");
  mlr_put_number(&line, sender->host->monotonic(sender->host->self) - sender->began_at);
  mlr_put(&line, " ms");
  mlr_log(sender->diagnostics, MLR_LEVEL_DEBUG, &line);
  mlr_text_free(&line);
}

/** Which event of the batch an answer names. */
static int64_t index_of(const mlr_answer *answer, size_t events) {
  if (answer->status != 400 && answer->status != 413 && answer->status != 422) return NO_INDEX;
  if (answer->event_index == NULL) return NO_INDEX;
  const char *text = answer->event_index + strspn(answer->event_index, " \t");
  size_t digits = strspn(text, "0123456789");
  if (digits == 0 || digits > 6 || text[digits + strspn(text + digits, " \t")] != 0) return NO_INDEX;
  int64_t index = mlr_digits(text, digits);
  return index < (int64_t)events ? index : NO_INDEX;
}

/** The host of a redirect; nothing else of it may be told. */
static void put_towards(mlr_text *to, const char *location) {
  const char *begin = location == NULL ? NULL : strstr(location, "//");
  if (begin == NULL) return;
  begin += 2;
  size_t length = strcspn(begin, "/?#");
  const char *after_user = memchr(begin, '@', length);
  if (after_user != NULL) {
    length -= (size_t)(after_user + 1 - begin);
    begin = after_user + 1;
  }
  mlr_put(to, " towards ");
  mlr_put_bytes(to, begin, length);
}

/** The first rows, all of the part that is sent now, are done with. */
static void end_part(mlr_sender *sender) {
  size_t done = sender->ends[--sender->part_count];
  mlr_rows_remove(&sender->rows, 0, done);
  for (size_t at = 0; at < sender->part_count; at++) sender->ends[at] -= done;
}

static void end_batch(mlr_sender *sender) {
  mlr_rows_clear(&sender->rows);
  sender->part_count = 0;
}

static const char *delivered(mlr_sender *sender, size_t events) {
  mlr_map none = {0};
  mlr_rules_succeeded(sender->rules);
  mlr_store_remove(sender->store, sender->rows.at, events, &none);
  current(sender)->sent += (int64_t)events;
  end_part(sender);
  return NULL;
}

/** Deletes one event that the server refuses. @return an outcome that ends the drain, or NULL */
static const char *refuse(mlr_sender *sender, size_t index, const mlr_answer *answer) {
  if (!mlr_rules_refuse(sender->rules, &sender->rows.at[index])) {
    mlr_text detail = {0};
    mlr_put(&detail, "the server refuses too many events, now with ");
    mlr_put_number(&detail, answer->status);
    return failed(sender, "RETRY_LATER", &detail);
  }
  mlr_text line = {0};
  mlr_text id = mlr_batch_message_id(&sender->rows.at[index].body);
  mlr_put(&line, "The server refused event ");
  mlr_put_bytes(&line, id.at, id.length);
  mlr_put(&line, " with ");
  mlr_put_number(&line, answer->status);
  mlr_put(&line, ": ");
  mlr_put_bytes(&line, answer->body, mlr_start(answer->body, answer->body_bytes, ANSWER_CHARACTERS));
  mlr_log(sender->diagnostics, MLR_LEVEL_ERROR, &line);
  mlr_text_free(&line);
  mlr_text_free(&id);

  mlr_rows_remove(&sender->rows, index, 1);
  for (size_t at = 0; at < sender->part_count; at++) sender->ends[at]--;
  if (sender->ends[sender->part_count - 1] == 0) sender->part_count--;
  return NULL;
}

/** Of an answer that is neither a success nor about single events. */
static const char *judge_status(mlr_sender *sender, const mlr_answer *answer) {
  int status = answer->status;
  mlr_text detail = answered_status(answer);
  if (status == 401 || status == 403 || status == 404) {
    const char *outcome = failed(sender, status == 404 ? "NOT_FOUND" : "KEY_REJECTED", &detail);
    const mlr_text *write_key = &sender->rows.at[0].write_key;
    if (mlr_text_equals(write_key, &current(sender)->settings.write_key)) {
      sender->rules->stopped_for = outcome;
      return outcome;
    }
    mlr_map_put(&sender->rules->set_aside, write_key->at, outcome, strlen(outcome));
    end_batch(sender);
    return NULL;
  }
  if (status == 0 || status >= 500 || status == 408 || status == 425 || status == 429) {
    bool is_offline = status == 0 && !sender->host->is_online(sender->host->self);
    const char *outcome = is_offline ? "OFFLINE" : "RETRY_LATER";
    mlr_rules_failed(sender->rules, outcome, answer->retry_after);
    if (status == 0) {
      mlr_text_free(&detail);
      mlr_put(&detail, "no answer: ");
      mlr_put(&detail, answer->trouble == NULL ? "" : answer->trouble);
    }
    return failed(sender, outcome, &detail);
  }
  mlr_text line = {0};
  put_towards(&detail, answer->location);
  mlr_put(&line, "Sending stops: ");
  mlr_put_bytes(&line, detail.at, detail.length);
  mlr_put(&line, ". Check dataPlaneUrl.");
  mlr_log(sender->diagnostics, MLR_LEVEL_ERROR, &line);
  mlr_text_free(&line);
  sender->rules->stopped_for = "WRONG_ADDRESS";
  return failed(sender, "WRONG_ADDRESS", &detail);
}

/** @return whether the same batch has to go once more without compression */
static bool asks_again(mlr_sender *sender, const mlr_answer *answer, int64_t index) {
  const char *address = current(sender)->settings.data_plane_url.at;
  if (is_success(answer) && sender->is_gzip) mlr_rules_took_gzip(sender->rules, address);
  if (is_success(answer) && sender->is_plain_again) mlr_rules_refused_gzip(sender->rules, address);
  bool may_be_gzip = sender->is_gzip && (answer->status == 400 || answer->status == 415 || answer->status == 500);
  return may_be_gzip && index == NO_INDEX && !mlr_rules_is_known_to_take_gzip(sender->rules, address);
}

/** @return an outcome that ends the drain, or NULL */
static const char *judge(mlr_sender *sender, const mlr_answer *answer) {
  size_t events = sender->ends[sender->part_count - 1];
  int64_t index = index_of(answer, events);
  log_batch(sender, events, answer);
  if (asks_again(sender, answer, index)) {
    post(sender, true);
    return NULL;
  }
  if (is_success(answer)) return delivered(sender, events);
  if (index != NO_INDEX) return refuse(sender, (size_t)index, answer);
  if (answer->status != 400 && answer->status != 413 && answer->status != 422) return judge_status(sender, answer);
  if (events == 1) return refuse(sender, 0, answer);
  sender->ends[sender->part_count++] = events / 2;
  return NULL;
}

/** @return the outcome without a request, or NULL when there may be one */
static const char *obstacle(mlr_sender *sender, const mlr_drain *drain) {
  const char *why = barred(sender, &drain->settings);
  if (why != NULL) return why;
  if (mlr_store_count(sender->store) == 0) return "EMPTY";
  return mlr_rules_waits_for(sender->rules, drain->force);
}

/** Sends the next batch or part. @return an outcome that ends the drain, or NULL */
static const char *send_next(mlr_sender *sender) {
  const mlr_settings *settings = &current(sender)->settings;
  const char *why = barred(sender, settings);
  if (why != NULL) return why;
  if (sender->part_count == 0) {
    mlr_room room = mlr_batch_room((size_t)settings->flush_queue_size, MOST_BYTES);
    end_batch(sender);
    mlr_store_oldest(sender->store, &sender->rules->set_aside, room, &sender->rows);
    if (sender->rows.count > 0) sender->ends[sender->part_count++] = sender->rows.count;
  }
  if (sender->part_count > 0) {
    post(sender, false);
    return NULL;
  }
  const mlr_map *set_aside = &sender->rules->set_aside;
  bool is_empty = mlr_store_count(sender->store) == 0 || set_aside->count == 0;
  if (is_empty) return "EMPTY";
  return strcmp(set_aside->at[0].value.at, "NOT_FOUND") == 0 ? "NOT_FOUND" : "KEY_REJECTED";
}

static void end_drain(mlr_sender *sender, const char *outcome) {
  mlr_drain ended = *current(sender);
  bool is_wait = strcmp(outcome, "RETRY_LATER") == 0 || strcmp(outcome, "OFFLINE") == 0;
  end_batch(sender);
  sender->is_running = false;
  sender->drain_count--;
  memmove(&sender->drains[0], &sender->drains[1], sender->drain_count * sizeof sender->drains[0]);
  sender->ended(sender->self, &ended, outcome, is_wait ? mlr_rules_retry_after_ms(sender->rules) : -1);
  mlr_settings_free(&ended.settings);
}

/** Until a request is under way, or no drain is left. */
static void go_on(mlr_sender *sender) {
  while (sender->request == 0 && sender->drain_count > 0) {
    const char *outcome = sender->is_running ? NULL : obstacle(sender, current(sender));
    sender->is_running = true;
    if (outcome == NULL) outcome = send_next(sender);
    if (outcome != NULL) end_drain(sender, outcome);
  }
}

bool mlr_sender_drain(mlr_sender *sender, const mlr_settings *settings, bool force, uint64_t call) {
  if (sender->drain_count > MLR_DRAINS_WAITING) return false;
  sender->drains[sender->drain_count++] = (mlr_drain){mlr_settings_copy(settings), force, call, 0};
  go_on(sender);
  return true;
}

bool mlr_sender_answered(mlr_sender *sender, uint64_t request, const mlr_answer *answer) {
  if (sender->request == 0 || sender->request != request) return false;
  sender->request = 0;
  const char *outcome = judge(sender, answer);
  if (outcome != NULL) end_drain(sender, outcome);
  go_on(sender);
  return true;
}

void mlr_sender_abort(mlr_sender *sender) {
  if (sender->request == 0) return;
  uint64_t request = sender->request;
  sender->request = 0;
  sender->host->cancel(sender->host->self, request);
  mlr_text detail = {0};
  mlr_put(&detail, "tracking was disabled during a request");
  end_drain(sender, failed(sender, "OPTED_OUT", &detail));
  go_on(sender);
}

void mlr_sender_free(mlr_sender *sender) {
  end_batch(sender);
  for (size_t at = 0; at < sender->drain_count; at++) mlr_settings_free(&sender->drains[at].settings);
}
