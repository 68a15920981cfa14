#include "mlr_rules.h"

#include <string.h>

#include "mlr_json.h"

static const int64_t FIRST_WAIT_MS = 3000;
static const int64_t LONGEST_WAIT_MS = 300000;
static const int64_t LONGEST_RETRY_AFTER_MS = 3600000;
static const int64_t HOUR_MS = 3600000;
static const int64_t PLAIN_MS = 7 * 24 * (int64_t)3600000;
/** Beyond it 3 s · 2ⁿ is above the longest wait anyway. */
static const int MOST_DOUBLINGS = 20;

enum { REFUSALS_PER_HOUR = 20 };

/** @return of the value of this key; NULL when there is none, or it is damaged; to be freed */
static mlr_json *parsed_value(mlr_store *store, const char *key) {
  mlr_map found = {0};
  const mlr_text *value = mlr_store_value(store, key, &found);
  mlr_json *parsed = value == NULL ? NULL : mlr_json_parse(value->at, value->length);
  mlr_map_clear(&found);
  return parsed;
}

static int64_t now(const mlr_rules *rules) {
  return rules->host->now(rules->host->self);
}

static int64_t monotonic(const mlr_rules *rules) {
  return rules->host->monotonic(rules->host->self);
}

void mlr_rules_follow(mlr_rules *rules, const mlr_text *source) {
  mlr_json *parsed = mlr_json_parse(source->at, source->length);
  bool is_enabled = mlr_json_is(mlr_json_member(parsed, "enabled"), MLR_TRUE);
  mlr_json_free(parsed);
  if (!is_enabled) return;
  rules->stopped_for = NULL;
  mlr_map_clear(&rules->set_aside);
}

bool mlr_rules_is_source_disabled(mlr_rules *rules) {
  mlr_json *source = parsed_value(rules->store, "source");
  bool is_disabled = mlr_json_is(mlr_json_member(source, "enabled"), MLR_FALSE);
  mlr_json_free(source);
  return is_disabled;
}

const char *mlr_rules_waits_for(const mlr_rules *rules, bool force) {
  int64_t at = monotonic(rules);
  return at < rules->retry_after_until || (!force && at < rules->backoff_until) ? rules->waits_for : NULL;
}

int64_t mlr_rules_retry_after_ms(const mlr_rules *rules) {
  int64_t until = rules->backoff_until > rules->retry_after_until ? rules->backoff_until : rules->retry_after_until;
  return until - monotonic(rules);
}

void mlr_rules_succeeded(mlr_rules *rules) {
  rules->failures = 0;
  rules->backoff_until = 0;
  rules->retry_after_until = 0;
}

static void wait_for(mlr_rules *rules, const char *outcome, int64_t milliseconds) {
  rules->waits_for = outcome;
  rules->backoff_until = monotonic(rules) + milliseconds;
}

/** Of a Retry-After in seconds or as a date; 0 when it is neither. */
static int64_t retry_after(const mlr_rules *rules, const char *header) {
  if (header == NULL) return 0;
  header += strspn(header, " \t");
  size_t digits = strspn(header, "0123456789");
  size_t after = strspn(header + digits, " \t");
  if (digits > 0 && header[digits + after] == 0) return digits > 9 ? LONGEST_RETRY_AFTER_MS : mlr_digits(header, digits) * 1000;
  int64_t date = mlr_http_date(header);
  return date > now(rules) ? date - now(rules) : 0;
}

void mlr_rules_failed(mlr_rules *rules, const char *outcome, const char *header) {
  int64_t longest = FIRST_WAIT_MS << (rules->failures < MOST_DOUBLINGS ? rules->failures : MOST_DOUBLINGS);
  if (longest > LONGEST_WAIT_MS) longest = LONGEST_WAIT_MS;
  rules->failures++;
  double part = 0.5 + rules->host->random(rules->host->self) / 2;
  wait_for(rules, outcome, (int64_t)((double)longest * part));
  int64_t wanted = retry_after(rules, header);
  rules->retry_after_until = monotonic(rules) + (wanted < LONGEST_RETRY_AFTER_MS ? wanted : LONGEST_RETRY_AFTER_MS);
}

bool mlr_rules_refuse(mlr_rules *rules, const mlr_row *row) {
  int64_t at = now(rules);
  int of_last_hour = 0;
  mlr_text times = {0};
  mlr_json *refusals = parsed_value(rules->store, "refusals");
  mlr_put(&times, "[");
  for (const mlr_json *each = mlr_json_is(refusals, MLR_LIST) ? refusals->first : NULL; each != NULL; each = each->next) {
    if (each->kind != MLR_NUMBER || !(each->number <= (double)at) || each->number <= (double)(at - HOUR_MS)) continue;
    mlr_put_number(&times, (int64_t)each->number);
    mlr_put(&times, ",");
    of_last_hour++;
  }
  mlr_json_free(refusals);
  bool may_go = of_last_hour < REFUSALS_PER_HOUR;
  if (may_go) {
    mlr_map state = {0};
    mlr_put_number(&times, at);
    mlr_put(&times, "]");
    mlr_map_put(&state, "refusals", times.at, times.length);
    mlr_map_put_number(&state, "refused", mlr_store_counter(rules->store, "refused") + 1);
    mlr_store_remove(rules->store, row, 1, &state);
    mlr_map_clear(&state);
  } else {
    wait_for(rules, "RETRY_LATER", LONGEST_WAIT_MS);
  }
  mlr_text_free(&times);
  return may_go;
}

bool mlr_rules_may_send_gzip(mlr_rules *rules, const char *address) {
  mlr_json *mark = parsed_value(rules->store, "plain");
  const mlr_json *of = mlr_json_member(mark, "address");
  const mlr_json *until = mlr_json_member(mark, "until");
  double plain_ms = mlr_json_is(until, MLR_NUMBER) ? until->number - (double)now(rules) : 0;
  // A longer mark is of a clock that was wrong.
  bool is_marked = mlr_json_is(of, MLR_STRING) && strcmp(of->string.at, address) == 0 && plain_ms > 0 && plain_ms <= (double)PLAIN_MS;
  mlr_json_free(mark);
  return !is_marked;
}

bool mlr_rules_is_known_to_take_gzip(const mlr_rules *rules, const char *address) {
  return mlr_map_find(&rules->takes_gzip, address) != NULL;
}

void mlr_rules_took_gzip(mlr_rules *rules, const char *address) {
  mlr_map_put(&rules->takes_gzip, address, "", 0);
}

void mlr_rules_refused_gzip(mlr_rules *rules, const char *address) {
  mlr_text mark = {0};
  mlr_map state = {0};
  mlr_put(&mark, "{\"address\":");
  mlr_put_json(&mark, address, strlen(address));
  mlr_put(&mark, ",\"until\":");
  mlr_put_number(&mark, now(rules) + PLAIN_MS);
  mlr_put(&mark, "}");
  mlr_map_put(&state, "plain", mark.at, mark.length);
  mlr_store_commit_state(rules->store, &state);
  mlr_map_clear(&state);
  mlr_text_free(&mark);
}

void mlr_rules_free(mlr_rules *rules) {
  mlr_map_clear(&rules->set_aside);
  mlr_map_clear(&rules->takes_gzip);
}
