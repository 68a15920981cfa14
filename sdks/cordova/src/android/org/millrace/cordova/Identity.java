package org.millrace.cordova;

import java.util.Collections;

/**
 * What is kept twice, in guard and database: whether tracking is allowed, and the anonymousId. Worker thread only.
 *
 * @see "contracts/cordova-sdk.md §14.4"
 */
final class Identity {
  private final EventStore store;
  private final GuardFile guard;

  /** Of the latest `open`. */
  private boolean requiresConsent;

  Identity(EventStore store, GuardFile guard) {
    this.store = store;
    this.guard = guard;
  }

  void setRequiresConsent(boolean requiresConsent) {
    this.requiresConsent = requiresConsent;
  }

  /**
   * `enabled`, `disabled` or `awaiting-consent`. Disabled in either place means disabled. While the guard cannot be read it may
   * say so: as long as this process was told nothing else, that is like awaiting consent.
   */
  String tracking() {
    boolean isUnread = guard.isUnread();
    String guarded = guard.get("tracking");
    String stored = store.value("tracking");
    if ("disabled".equals(guarded) || "disabled".equals(stored)) return "disabled";
    if (isUnread && guarded == null) return "awaiting-consent";
    if ("enabled".equals(guarded) || "enabled".equals(stored)) return "enabled";
    return requiresConsent ? "awaiting-consent" : "enabled";
  }

  /** Null when there is none. */
  String anonymousId() {
    String stored = store.value("anonymousId");
    return stored == null ? guard.get("anonymousId") : stored;
  }

  /** An anonymousId that only the guard has is written back. */
  void restore() {
    String guarded = guard.get("anonymousId");
    if (guarded == null || store.value("anonymousId") != null) return;
    store.commit(Change.ofState(Collections.singletonMap("anonymousId", guarded)));
  }
}
