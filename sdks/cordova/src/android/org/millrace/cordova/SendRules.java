package org.millrace.cordova;

import java.text.ParseException;
import java.text.SimpleDateFormat;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TimeZone;
import java.util.function.DoubleSupplier;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/**
 * Whether something may be sent now: waits, what stopped sending, write keys set aside, how many events a server may still
 * refuse, and who takes no gzip. Waits and stops are of this process, the rest is in the state store. Worker thread only.
 *
 * @see "contracts/cordova-sdk.md §15; sdks/cordova/BRIDGE.md, drain"
 */
final class SendRules {
  private static final long FIRST_WAIT_MS = 3_000;
  private static final long LONGEST_WAIT_MS = 300_000;
  private static final long LONGEST_RETRY_AFTER_MS = 3_600_000;
  private static final int REFUSALS_PER_HOUR = 20;
  private static final long HOUR_MS = 3_600_000;
  private static final long PLAIN_MS = 7 * 24 * HOUR_MS;

  private final EventStore store;
  private final Clock clock;
  private final DoubleSupplier random;

  private String stoppedFor;
  private final Map<String, String> setAside = new LinkedHashMap<>();
  private final Set<String> takesGzip = new HashSet<>();

  private int failures;
  private String waitsFor;
  private long backoffUntil;
  private long retryAfterUntil;

  SendRules(EventStore store, Clock clock, DoubleSupplier random) {
    this.store = store;
    this.clock = clock;
    this.random = random;
  }

  String stoppedFor() {
    return stoppedFor;
  }

  void stop(String outcome) {
    stoppedFor = outcome;
  }

  /** Write keys by the outcome that they were refused with. */
  Map<String, String> setAside() {
    return Collections.unmodifiableMap(setAside);
  }

  void setAside(String writeKey, String outcome) {
    setAside.put(writeKey, outcome);
  }

  /** Of a source configuration that came just now: where the source is enabled everything is tried again. */
  void follow(String source) {
    if (!Boolean.TRUE.equals(enabled(source))) return;
    stoppedFor = null;
    setAside.clear();
  }

  boolean isSourceDisabled() {
    return Boolean.FALSE.equals(enabled(store.value("source")));
  }

  /** As it says; null where it says nothing that can be read. */
  private static Object enabled(String source) {
    try {
      return source == null ? null : new JSONObject(source).opt("enabled");
    } catch (JSONException damaged) {
      return null;
    }
  }

  /** @return the outcome that is waited for, or null when a drain may begin */
  String waitsFor(boolean force) {
    long now = clock.monotonic();
    return now < retryAfterUntil || (!force && now < backoffUntil) ? waitsFor : null;
  }

  /** Until an unforced drain asks the server again. */
  long retryAfterMs() {
    return Math.max(backoffUntil, retryAfterUntil) - clock.monotonic();
  }

  void succeeded() {
    failures = 0;
    backoffUntil = 0;
    retryAfterUntil = 0;
  }

  /** @param retryAfter the header, or null */
  void failed(String outcome, String retryAfter) {
    double longest = Math.min(FIRST_WAIT_MS * Math.pow(2, failures++), LONGEST_WAIT_MS);
    waitFor(outcome, (long) (longest * (0.5 + random.getAsDouble() / 2)));
    retryAfterUntil = clock.monotonic() + Math.min(milliseconds(retryAfter), LONGEST_RETRY_AFTER_MS);
  }

  /**
   * Deletes an event that the server refuses for good.
   *
   * @return false, and the wait has begun, when that happened too often within the last hour
   */
  boolean refuse(Row row) {
    List<Long> times = new ArrayList<>();
    for (long time : refusals()) if (time <= clock.now() && time > clock.now() - HOUR_MS) times.add(time);
    if (times.size() >= REFUSALS_PER_HOUR) {
      waitFor("RETRY_LATER", LONGEST_WAIT_MS);
      return false;
    }
    times.add(clock.now());
    Map<String, String> state = new LinkedHashMap<>();
    state.put("refused", String.valueOf(EventStore.counter(store.value("refused")) + 1));
    state.put("refusals", new JSONArray(times).toString());
    store.remove(Collections.singletonList(row), state);
    return true;
  }

  /** Whether bodies for this address are to be compressed. A mark of more than 7 days is of a clock that was wrong. */
  boolean maySendGzip(String address) {
    try {
      String plain = store.value("plain");
      JSONObject mark = plain == null ? new JSONObject() : new JSONObject(plain);
      long plainMs = mark.optLong("until") - clock.now();
      return !address.equals(mark.optString("address")) || plainMs <= 0 || plainMs > PLAIN_MS;
    } catch (JSONException damaged) {
      return true;
    }
  }

  boolean isKnownToTakeGzip(String address) {
    return takesGzip.contains(address);
  }

  void tookGzip(String address) {
    takesGzip.add(address);
  }

  void refusedGzip(String address) {
    String mark = Json.object("address", address, "until", clock.now() + PLAIN_MS).toString();
    store.commit(Change.ofState(Collections.singletonMap("plain", mark)));
  }

  private void waitFor(String outcome, long milliseconds) {
    waitsFor = outcome;
    backoffUntil = clock.monotonic() + milliseconds;
  }

  private long[] refusals() {
    try {
      String text = store.value("refusals");
      JSONArray times = text == null ? new JSONArray() : new JSONArray(text);
      long[] read = new long[times.length()];
      for (int at = 0; at < read.length; at++) read[at] = times.optLong(at);
      return read;
    } catch (JSONException damaged) {
      return new long[0];
    }
  }

  /** Of a Retry-After in seconds or as a date; 0 when it is neither. */
  private long milliseconds(String retryAfter) {
    if (retryAfter == null) return 0;
    String text = retryAfter.trim();
    if (text.matches("\\d{1,9}")) return Long.parseLong(text) * 1000;
    SimpleDateFormat format = new SimpleDateFormat("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US);
    format.setTimeZone(TimeZone.getTimeZone("UTC"));
    try {
      return Math.max(0, format.parse(text).getTime() - clock.now());
    } catch (ParseException neither) {
      return 0;
    }
  }
}
