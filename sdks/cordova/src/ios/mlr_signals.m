#include "mlr_signals.h"

#include <stdlib.h>
#include <string.h>

void mlr_put_fact(mlr_text *to, const mlr_host *host, const char *name, mlr_fact fact) {
  char *json = host->fact(host->self, fact);
  mlr_put(to, "\"");
  mlr_put(to, name);
  mlr_put(to, "\":");
  mlr_put(to, json);
  free(json);
}

/** With the members of `context` that may have changed. */
static void signal_with_context(const mlr_host *host, mlr_text *json) {
  mlr_put_fact(json, host, "context", MLR_CHANGING_CONTEXT);
  mlr_put(json, "}");
  host->signal(host->self, json->at);
  mlr_text_free(json);
}

void mlr_signal_start(const mlr_host *host, const char *url) {
  mlr_text json = {0};
  mlr_put(&json, "{\"t\":\"start\",");
  if (url != NULL) {
    mlr_put(&json, "\"url\":");
    mlr_put_json(&json, url, strlen(url));
    mlr_put(&json, ",");
  }
  signal_with_context(host, &json);
}

void mlr_signal_stop(const mlr_host *host, bool is_stored) {
  host->signal(host->self, is_stored ? "{\"t\":\"stop\",\"stored\":true}" : "{\"t\":\"stop\",\"stored\":false}");
}

void mlr_signal_tracking(const mlr_host *host, const char *tracking) {
  mlr_text json = {0};
  mlr_put(&json, "{\"t\":\"changed\",\"state\":{\"tracking\":\"");
  mlr_put(&json, tracking);
  mlr_put(&json, "\"}}");
  host->signal(host->self, json.at);
  mlr_text_free(&json);
}

void mlr_signal_network(const mlr_host *host) {
  mlr_text json = {0};
  bool is_online = host->is_online(host->self);
  mlr_put(&json, is_online ? "{\"t\":\"network\",\"online\":true," : "{\"t\":\"network\",\"online\":false,");
  signal_with_context(host, &json);
}
