package org.millrace.cordova;

import org.json.JSONObject;

/** What the platform knows. */
interface Facts {
  /** Members of `context` that stay as they are while the process lives. */
  JSONObject lastingContext(boolean withDeviceId);

  /** Those that may change. */
  JSONObject changingContext();

  /** `version` and `build` of the running app. */
  JSONObject release();

  /** Of the Cordova platform; null when it is not known. */
  String platformVersion();

  boolean isOnline();

  /** May take long. */
  JSONObject advertisingId();
}
