/*
 * Whether something may be sent now: waits, what stopped sending, write keys set aside, how many events a server may still
 * refuse, and who takes no gzip. Waits and stops are of this process, the rest is in the state. See contracts/cordova-sdk.md §15.
 */
#ifndef MLR_RULES_H
#define MLR_RULES_H

#include "mlr_core.h"
#include "mlr_store.h"

typedef struct {
  const mlr_host *host;
  mlr_store *store;

  /** NULL: sending has not stopped. */
  const char *stopped_for;
  /** Write keys by the outcome that they were refused with. */
  mlr_map set_aside;
  /** Addresses that have understood a compressed request. */
  mlr_map takes_gzip;

  int failures;
  /** NULL: nothing was ever waited for. */
  const char *waits_for;
  int64_t backoff_until;
  int64_t retry_after_until;
} mlr_rules;

/** Of a source configuration that came just now: where the source is enabled everything is tried again. */
void mlr_rules_follow(mlr_rules *rules, const mlr_text *source);
bool mlr_rules_is_source_disabled(mlr_rules *rules);

/** @return the outcome that is waited for, or NULL when a drain may begin */
const char *mlr_rules_waits_for(const mlr_rules *rules, bool force);
/** Milliseconds until an unforced drain asks the server again. */
int64_t mlr_rules_retry_after_ms(const mlr_rules *rules);
void mlr_rules_succeeded(mlr_rules *rules);
/** @param retry_after the header, or NULL */
void mlr_rules_failed(mlr_rules *rules, const char *outcome, const char *retry_after);

/** Deletes an event that the server refuses for good. @return false, and the wait has begun, when that was too often of late */
bool mlr_rules_refuse(mlr_rules *rules, const mlr_row *row);

/** Whether bodies for this address are to be compressed. */
bool mlr_rules_may_send_gzip(mlr_rules *rules, const char *address);
bool mlr_rules_is_known_to_take_gzip(const mlr_rules *rules, const char *address);
void mlr_rules_took_gzip(mlr_rules *rules, const char *address);
void mlr_rules_refused_gzip(mlr_rules *rules, const char *address);

void mlr_rules_free(mlr_rules *rules);

#endif
