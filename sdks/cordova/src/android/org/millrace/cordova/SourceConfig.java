package org.millrace.cordova;

import android.net.Uri;
import java.util.Map;
import org.json.JSONObject;

/**
 * One request for the source configuration; the core decides when, and what the answer means.
 *
 * @see "contracts/cordova-sdk.md §17"
 */
final class SourceConfig {
  private static final int IN_ALL_MS = 10_000;
  private static final int MOST_BYTES = 1024 * 1024;

  private SourceConfig() {}

  /**
   * @param http ends it, or keeps it from beginning, once tracking is disabled
   * @param platformVersion null when it is not known
   * @param etag empty when there is none
   * @return status (0: no whole answer), and where the answer has them etag and body
   */
  static JSONObject fetch(Http http, Settings settings, String platformVersion, String etag) {
    Map<String, String> headers = EventSender.headers(settings, settings.writeKey);
    if (!etag.isEmpty()) headers.put("If-None-Match", etag);
    String version = platformVersion == null ? "" : "&bv=" + Uri.encode(platformVersion);
    String query = "?p=android&v=" + Uri.encode(settings.sdkVersion) + version;
    Http.Answer answer = http.send(settings.controlPlaneUrl + "/sourceConfig" + query, headers, null, IN_ALL_MS, MOST_BYTES);
    if (answer.isCut) return Json.object("status", 0);
    String body = answer.status == 200 ? answer.body : null;
    return Json.object("status", answer.status, "etag", answer.header("ETag"), "body", body);
  }
}
