/* Requests for the source configuration; the core decides when, and what an answer means. See contracts/cordova-sdk.md §17. */
#ifndef MLR_SOURCE_CONFIG_H
#define MLR_SOURCE_CONFIG_H

#include "mlr_core.h"
#include "mlr_identity.h"
#include "mlr_settings.h"

enum {
  /** That may be under way; one more is answered as one without an answer. */
  MLR_CONFIGS = 8
};

typedef struct {
  uint64_t request;
  /** Of the action that waits for it. */
  uint64_t call;
} mlr_config_request;

typedef struct {
  const mlr_host *host;
  mlr_identity *identity;
  const char *os_version;
  /** Of the Cordova platform; empty when it is not known. */
  const char *platform_version;
  /** Of all requests of the engine. */
  uint64_t *last_request;

  mlr_config_request under_way[MLR_CONFIGS];
  size_t count;
} mlr_source_config;

/** Asks once, where there is an address and tracking is enabled. @param call is answered @param etag NULL: there is none */
void mlr_source_config_fetch(mlr_source_config *config, uint64_t call, const mlr_settings *settings, const mlr_text *etag);
/** @return whether this request was one of these */
bool mlr_source_config_answered(mlr_source_config *config, uint64_t request, const mlr_answer *answer);
/** Tracking is disabled: requests end, and count as those without an answer. */
void mlr_source_config_abort(mlr_source_config *config);

#endif
