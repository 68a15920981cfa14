/*
 * Drains: batches go out until nothing is left or a rule ends it, one drain at a time. Nothing here waits: a request goes to
 * the host, and its answer comes back through mlr_sender_answered(). See contracts/cordova-sdk.md §14.3, §15; BRIDGE.md, drain.
 */
#ifndef MLR_SENDER_H
#define MLR_SENDER_H

#include "mlr_diagnostics.h"
#include "mlr_identity.h"
#include "mlr_rules.h"
#include "mlr_settings.h"

enum {
  /** Drains that may wait for the one that runs; one more is answered BUSY. */
  MLR_DRAINS_WAITING = 100,
  /** Far more than halving can make of a batch, whose 512,000 bytes hold no 20,000 events. */
  MLR_PARTS = 24
};

/** @param settings those of its beginning, which hold to its end */
typedef struct {
  mlr_settings settings;
  bool force;
  /** Of the action; 0: leaving the foreground began it. */
  uint64_t call;
  int64_t sent;
} mlr_drain;

typedef struct {
  const mlr_host *host;
  mlr_store *store;
  mlr_rules *rules;
  mlr_diagnostics *diagnostics;
  mlr_identity *identity;
  const char *os_version;
  /** Hears how each drain ended. @param retry_after_ms below 0: nothing is waited for */
  void (*ended)(void *self, const mlr_drain *drain, const char *outcome, int64_t retry_after_ms);
  void *self;
  /** Of all requests of the engine. */
  uint64_t *last_request;

  /** The first one runs while `is_running`. */
  mlr_drain drains[MLR_DRAINS_WAITING + 1];
  size_t drain_count;
  bool is_running;

  /** The batch in progress, and the ends of the parts into which it was split: the last one, from 0 on, is sent now. */
  mlr_rows rows;
  size_t ends[MLR_PARTS];
  size_t part_count;

  /** 0: none is under way. */
  uint64_t request;
  bool is_gzip;
  /** The same batch once more, without compression. */
  bool is_plain_again;
  size_t text_bytes;
  size_t sent_bytes;
  int64_t began_at;
} mlr_sender;

/** @return false when too many wait already */
bool mlr_sender_drain(mlr_sender *sender, const mlr_settings *settings, bool force, uint64_t call);
/** @return whether this request was the sender's */
bool mlr_sender_answered(mlr_sender *sender, uint64_t request, const mlr_answer *answer);
/** Tracking is disabled: the request in progress ends, and with it every drain. */
void mlr_sender_abort(mlr_sender *sender);
void mlr_sender_free(mlr_sender *sender);

/** Headers of every request: Authorization and User-Agent. To be freed. */
mlr_text mlr_authorization(const mlr_text *write_key);
mlr_text mlr_user_agent(const mlr_settings *settings, const char *os_version);

#endif
