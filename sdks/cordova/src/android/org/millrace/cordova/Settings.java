package org.millrace.cordova;

import org.json.JSONException;
import org.json.JSONObject;

/** The argument of `open`: what every drain, request and background job needs to know. */
final class Settings {
  final String writeKey;

  /** Without trailing slash; empty when there is none, and then nothing is sent. */
  final String dataPlaneUrl;

  final String controlPlaneUrl;
  final int flushQueueSize;
  final int dbThresholdCount;
  final boolean gzip;

  /** 0 (none) to 5 (verbose). */
  final int logLevel;

  final boolean collectDeviceId;
  final boolean requireConsent;
  final String sdkVersion;

  /** The same as JSON, as the state store keeps it for the background job. */
  final String text;

  /** @throws JSONException when a member is missing or of another type */
  Settings(JSONObject from) throws JSONException {
    writeKey = from.getString("writeKey");
    dataPlaneUrl = from.getString("dataPlaneUrl");
    controlPlaneUrl = from.getString("controlPlaneUrl");
    flushQueueSize = from.getInt("flushQueueSize");
    dbThresholdCount = from.getInt("dbThresholdCount");
    gzip = from.getBoolean("gzip");
    logLevel = from.getInt("logLevel");
    collectDeviceId = from.getBoolean("collectDeviceId");
    requireConsent = from.getBoolean("requireConsent");
    sdkVersion = from.getString("sdkVersion");
    text = from.toString();
  }
}
