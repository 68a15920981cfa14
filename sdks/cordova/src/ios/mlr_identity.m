#include "mlr_identity.h"

#include <string.h>

const char *mlr_tracking_name(mlr_tracking tracking) {
  return tracking == MLR_ENABLED ? "enabled" : tracking == MLR_DISABLED ? "disabled" : "awaiting-consent";
}

static bool is(const mlr_text *value, const char *text) {
  return value != NULL && strcmp(value->at, text) == 0;
}

mlr_tracking mlr_identity_tracking(mlr_identity *identity) {
  mlr_map found = {0};
  bool is_unread = mlr_guard_trouble(identity->guard) != NULL;
  const mlr_text *stored = mlr_store_value(identity->store, "tracking", &found);
  const mlr_text *guarded = mlr_guard_value(identity->guard, "tracking");
  bool is_disabled = is(stored, "disabled") || is(guarded, "disabled");
  bool is_unknown = is_unread && guarded == NULL;
  bool is_enabled = is(stored, "enabled") || is(guarded, "enabled");
  mlr_map_clear(&found);
  if (is_disabled) return MLR_DISABLED;
  if (is_unknown) return MLR_AWAITING_CONSENT;
  return is_enabled || !identity->requires_consent ? MLR_ENABLED : MLR_AWAITING_CONSENT;
}

mlr_text mlr_identity_anonymous_id(mlr_identity *identity) {
  mlr_map found = {0};
  const mlr_text *id = mlr_store_value(identity->store, "anonymousId", &found);
  if (id == NULL) id = mlr_guard_value(identity->guard, "anonymousId");
  mlr_text copy = id == NULL ? (mlr_text){0} : mlr_text_of(id->at, id->length);
  mlr_map_clear(&found);
  return copy;
}

void mlr_identity_restore(mlr_identity *identity) {
  mlr_map stored = {0};
  mlr_text id = mlr_identity_anonymous_id(identity);
  if (id.length > 0 && mlr_store_value(identity->store, "anonymousId", &stored) == NULL) {
    mlr_map_put(&stored, "anonymousId", id.at, id.length);
    mlr_store_commit_state(identity->store, &stored);
  }
  mlr_text_free(&id);
  mlr_map_clear(&stored);
}
