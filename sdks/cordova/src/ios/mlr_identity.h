/* What is kept twice, in guard and database: whether tracking is allowed, and the anonymousId. contracts/cordova-sdk.md §14.4. */
#ifndef MLR_IDENTITY_H
#define MLR_IDENTITY_H

#include "mlr_guard.h"
#include "mlr_store.h"

typedef enum { MLR_ENABLED, MLR_DISABLED, MLR_AWAITING_CONSENT } mlr_tracking;

typedef struct {
  mlr_store *store;
  mlr_guard *guard;
  /** Of the latest `open`. */
  bool requires_consent;
} mlr_identity;

/** `enabled`, `disabled` or `awaiting-consent` */
const char *mlr_tracking_name(mlr_tracking tracking);
/**
 * Disabled in either place means disabled. While the guard cannot be read it may say so: as long as this process was told
 * nothing else, that is like awaiting consent.
 */
mlr_tracking mlr_identity_tracking(mlr_identity *identity);
/** @return empty when there is none; to be freed */
mlr_text mlr_identity_anonymous_id(mlr_identity *identity);
/** An anonymousId that only the guard has is written back. */
void mlr_identity_restore(mlr_identity *identity);

#endif
