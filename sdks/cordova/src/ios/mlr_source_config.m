#include "mlr_source_config.h"

#include <string.h>

#include "mlr_sender.h"

static const int IN_ALL_MS = 10000;
static const size_t MOST_BYTES = 1024 * 1024;

static void answer_with_nothing(const mlr_source_config *config, uint64_t call) {
  config->host->answer(config->host->self, call, true, "{\"status\":0}");
}

static void send_request(const mlr_source_config *config, uint64_t request, const mlr_settings *settings, const mlr_text *etag) {
  mlr_text url = mlr_text_of(settings->control_plane_url.at, settings->control_plane_url.length);
  mlr_text authorization = mlr_authorization(&settings->write_key);
  mlr_text user_agent = mlr_user_agent(settings, config->os_version);
  mlr_put(&url, "/sourceConfig?p=ios&v=");
  mlr_put_encoded(&url, settings->sdk_version.at);
  if (config->platform_version[0] != 0) {
    mlr_put(&url, "&bv=");
    mlr_put_encoded(&url, config->platform_version);
  }
  mlr_header headers[3] = {{"Authorization", authorization.at}, {"User-Agent", user_agent.at}};
  size_t count = 2;
  if (etag != NULL && etag->length > 0) headers[count++] = (mlr_header){"If-None-Match", etag->at};
  const mlr_request sent = {
      .id = request,
      .url = url.at,
      .headers = headers,
      .header_count = count,
      .in_all_ms = IN_ALL_MS,
      .most_bytes = MOST_BYTES,
  };
  config->host->request(config->host->self, &sent);
  mlr_text_free(&url);
  mlr_text_free(&authorization);
  mlr_text_free(&user_agent);
}

void mlr_source_config_fetch(mlr_source_config *config, uint64_t call, const mlr_settings *settings, const mlr_text *etag) {
  bool may_ask = settings->control_plane_url.length > 0 && config->count < MLR_CONFIGS &&
                 mlr_identity_tracking(config->identity) == MLR_ENABLED;
  if (!may_ask) {
    answer_with_nothing(config, call);
    return;
  }
  uint64_t request = ++*config->last_request;
  config->under_way[config->count++] = (mlr_config_request){request, call};
  send_request(config, request, settings, etag);
}

static void pass_on(const mlr_source_config *config, uint64_t call, const mlr_answer *answer) {
  mlr_text json = {0};
  mlr_put(&json, "{\"status\":");
  mlr_put_number(&json, answer->is_cut ? 0 : answer->status);
  if (!answer->is_cut && answer->etag != NULL) {
    mlr_put(&json, ",\"etag\":");
    mlr_put_json(&json, answer->etag, strlen(answer->etag));
  }
  if (!answer->is_cut && answer->status == 200) {
    mlr_put(&json, ",\"body\":");
    mlr_put_json(&json, answer->body, answer->body_bytes);
  }
  mlr_put(&json, "}");
  config->host->answer(config->host->self, call, true, json.at);
  mlr_text_free(&json);
}

bool mlr_source_config_answered(mlr_source_config *config, uint64_t request, const mlr_answer *answer) {
  for (size_t at = 0; at < config->count; at++) {
    if (config->under_way[at].request != request) continue;
    uint64_t call = config->under_way[at].call;
    config->under_way[at] = config->under_way[--config->count];
    pass_on(config, call, answer);
    return true;
  }
  return false;
}

void mlr_source_config_abort(mlr_source_config *config) {
  for (; config->count > 0; config->count--) {
    const mlr_config_request *last = &config->under_way[config->count - 1];
    config->host->cancel(config->host->self, last->request);
    answer_with_nothing(config, last->call);
  }
}
