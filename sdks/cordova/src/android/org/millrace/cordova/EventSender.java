package org.millrace.cordova;

import android.net.Uri;
import android.os.Build;
import android.util.Base64;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPOutputStream;

/**
 * A drain: batches go out until nothing is left or a rule ends it. Runs on the thread of its caller, one at a time, and asks
 * the worker for every look at the queue, so that calls of the app never wait for the network.
 *
 * @see "contracts/cordova-sdk.md §14.3, §15; sdks/cordova/BRIDGE.md, drain"
 */
final class EventSender {
  private static final int MOST_BYTES = 512_000;
  private static final int GZIP_FROM_BYTES = 1_024;
  private static final int IN_ALL_MS = 30_000;
  private static final int ANSWER_BYTES = 4_096;

  /** Not an outcome: the key of this batch is set aside, and the drain goes on with others. */
  private static final String NEXT_KEY = "";

  private final EventStore store;
  private final SendRules rules;
  private final Identity identity;
  private final Diagnostics diagnostics;
  private final Facts facts;
  private final Worker worker;
  private final Clock clock;
  private final Http http = new Http();

  static final class Result {
    final int sent;
    final String outcome;

    /** Below 0: nothing is waited for. */
    final long retryAfterMs;

    private Result(int sent, String outcome, long retryAfterMs) {
      this.sent = sent;
      this.outcome = outcome;
      this.retryAfterMs = retryAfterMs;
    }

    /** Another drain, later, may get further. */
    boolean isWait() {
      return EventSender.isWait(outcome);
    }
  }

  EventSender(
      EventStore store,
      SendRules rules,
      Identity identity,
      Diagnostics diagnostics,
      Facts facts,
      Worker worker,
      Clock clock) {
    this.store = store;
    this.rules = rules;
    this.identity = identity;
    this.diagnostics = diagnostics;
    this.facts = facts;
    this.worker = worker;
    this.clock = clock;
  }

  /** Tracking was disabled: ends the request in progress, and no other begins until `allow`. */
  void abort() {
    http.abort();
  }

  void allow() {
    http.allow();
  }

  /** @return why nothing may be sent, whatever the server would say, or null. Worker thread only. */
  String barred(Settings settings) {
    switch (identity.tracking()) {
      case "disabled":
        return "OPTED_OUT";
      case "awaiting-consent":
        return "AWAITING_CONSENT";
      default:
        if (rules.isSourceDisabled()) return "SOURCE_DISABLED";
        return settings.dataPlaneUrl.isEmpty() ? "NO_DATA_PLANE_URL" : rules.stoppedFor();
    }
  }

  /** @param settings those of the moment, which hold to the end of this drain */
  Result drain(Settings settings, boolean force) throws InterruptedException {
    return new Drain(settings).run(force);
  }

  private final class Drain {
    private final Settings settings;
    private int sent;

    private Drain(Settings settings) {
      this.settings = settings;
    }

    private Result run(boolean force) throws InterruptedException {
      String outcome = worker.call(() -> obstacle(force));
      while (outcome == null) {
        List<Row> batch = worker.call(this::next);
        outcome = batch.isEmpty() ? worker.call(this::end) : send(batch);
        if (NEXT_KEY.equals(outcome)) outcome = null;
      }
      String ended = outcome;
      return worker.call(() -> new Result(sent, ended, isWait(ended) ? rules.retryAfterMs() : -1));
    }

    /** @return the outcome without a request, or null when there may be one */
    private String obstacle(boolean force) {
      String barred = barred(settings);
      if (barred != null) return barred;
      if (store.count() == 0) return "EMPTY";
      return rules.waitsFor(force);
    }

    /** @return empty when nothing is left to send */
    private List<Row> next() {
      return store.oldest(rules.setAside().keySet(), this::room);
    }

    private BatchRoom room() {
      int around = BatchText.bytesAround(clock.now());
      int perRow = BatchText.bytesPerRow(clock.now());
      return new BatchRoom(settings.flushQueueSize, MOST_BYTES - around, perRow);
    }

    private String end() {
      String barred = barred(settings);
      if (barred != null) return barred;
      if (store.count() == 0 || rules.setAside().isEmpty()) return "EMPTY";
      return rules.setAside().values().iterator().next();
    }

    /** @return an outcome that ends the drain, or null */
    private String send(List<Row> rows) throws InterruptedException {
      while (!rows.isEmpty()) {
        String barred = worker.call(() -> barred(settings));
        if (barred != null) return barred;
        List<Row> batch = rows;
        Http.Answer answer = post(batch);
        if (http.isAborted()) return failed("OPTED_OUT", "tracking was disabled during a request");
        int index = indexOf(answer, batch.size());
        if (answer.isSuccess()) {
          worker.call(() -> delivered(batch));
          sent += batch.size();
          return null;
        }
        if (index >= 0) {
          if (!refuse(batch.get(index), answer)) return tooManyRefusals(answer);
          rows = new ArrayList<>(batch);
          rows.remove(index);
        } else if (answer.status != 400 && answer.status != 413 && answer.status != 422) {
          return worker.call(() -> judgeStatus(answer, batch.get(0).writeKey));
        } else if (batch.size() == 1) {
          return refuse(batch.get(0), answer) ? null : tooManyRefusals(answer);
        } else {
          String outcome = send(batch.subList(0, batch.size() / 2));
          if (outcome != null) return outcome;
          rows = batch.subList(batch.size() / 2, batch.size());
        }
      }
      return null;
    }

    private Object delivered(List<Row> batch) {
      rules.succeeded();
      store.remove(batch, new LinkedHashMap<>());
      return null;
    }

    /** Of an answer that is neither a success nor about single events. */
    private String judgeStatus(Http.Answer answer, String writeKey) {
      int status = answer.status;
      if (status == 401 || status == 403 || status == 404) {
        String outcome = status == 404 ? "NOT_FOUND" : "KEY_REJECTED";
        failed(outcome, "the server answered " + status);
        if (writeKey.equals(settings.writeKey)) {
          rules.stop(outcome);
          return outcome;
        }
        rules.setAside(writeKey, outcome);
        return NEXT_KEY;
      }
      if (status == 0 || status >= 500 || status == 408 || status == 425 || status == 429) {
        String outcome = status == 0 && !facts.isOnline() ? "OFFLINE" : "RETRY_LATER";
        rules.failed(outcome, answer.header("Retry-After"));
        return failed(outcome, status == 0 ? "no answer: " + answer.trouble : "the server answered " + status);
      }
      rules.stop("WRONG_ADDRESS");
      String detail = "the server answered " + status + towards(answer.header("Location"));
      diagnostics.log(1, "Sending stops: " + detail + ". Check dataPlaneUrl.");
      return failed("WRONG_ADDRESS", detail);
    }

    private boolean refuse(Row row, Http.Answer answer) throws InterruptedException {
      if (!worker.call(() -> rules.refuse(row))) return false;
      String start = answer.body.substring(0, Math.min(200, answer.body.length()));
      diagnostics.log(1, "The server refused event " + BatchText.messageId(row) + " with " + answer.status + ": " + start);
      return true;
    }

    private String tooManyRefusals(Http.Answer answer) {
      return failed("RETRY_LATER", "the server refuses too many events, now with " + answer.status);
    }

    private String failed(String outcome, String detail) {
      diagnostics.failed(outcome, detail);
      return outcome;
    }

    private int indexOf(Http.Answer answer, int size) {
      String header = answer.header("X-Millrace-Event-Index");
      boolean names = answer.status == 400 || answer.status == 413 || answer.status == 422;
      if (!names || header == null || !header.trim().matches("\\d{1,6}")) return -1;
      int index = Integer.parseInt(header.trim());
      return index < size ? index : -1;
    }

    /** With gzip where that is wanted, and once more without where it may have been the trouble. */
    private Http.Answer post(List<Row> rows) throws InterruptedException {
      String address = settings.dataPlaneUrl;
      boolean isRepeat = worker.call(() -> store.begin(rows));
      byte[] body = BatchText.of(rows, isRepeat, clock.now());
      boolean isGzip = settings.gzip && body.length >= GZIP_FROM_BYTES && worker.call(() -> rules.maySendGzip(address));
      Http.Answer answer = post(rows, body, isGzip);
      if (!isGzip) return answer;
      if (answer.isSuccess()) worker.call(() -> tookGzip(address));
      boolean mayBeGzip = answer.status == 400 || answer.status == 415 || answer.status == 500;
      if (!mayBeGzip || indexOf(answer, rows.size()) >= 0 || worker.call(() -> rules.isKnownToTakeGzip(address))) return answer;

      Http.Answer plain = post(rows, BatchText.of(rows, true, clock.now()), false);
      if (plain.isSuccess()) worker.call(() -> refusedGzip(address));
      return plain;
    }

    private Object tookGzip(String address) {
      rules.tookGzip(address);
      return null;
    }

    private Object refusedGzip(String address) {
      rules.refusedGzip(address);
      return null;
    }

    private Http.Answer post(List<Row> rows, byte[] text, boolean isGzip) throws InterruptedException {
      byte[] body = isGzip ? compressed(text) : text;
      Map<String, String> headers = headers(settings, rows.get(0).writeKey);
      headers.put("Content-Type", "application/json");
      if (isGzip) headers.put("Content-Encoding", "gzip");
      String anonymousId = worker.call(identity::anonymousId);
      if (anonymousId != null) headers.put("AnonymousId", base64(anonymousId));
      if (settings.logLevel >= 5) diagnostics.log(5, "payload " + new String(text, StandardCharsets.UTF_8));

      long started = clock.monotonic();
      Http.Answer answer = http.send(settings.dataPlaneUrl + "/v1/batch", headers, body, IN_ALL_MS, ANSWER_BYTES);
      String outcome = answer.status == 0 ? "no answer (" + answer.trouble + ")" : String.valueOf(answer.status);
      String size = rows.size() + " events, " + text.length + " bytes" + (isGzip ? ", " + body.length + " compressed" : "");
      diagnostics.log(4, "batch of " + size + ": " + outcome + " in " + (clock.monotonic() - started) + " ms");
      return answer;
    }
  }

  private static boolean isWait(String outcome) {
    return outcome.equals("RETRY_LATER") || outcome.equals("OFFLINE");
  }

  /** Headers of every request. */
  static Map<String, String> headers(Settings settings, String writeKey) {
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("Authorization", "Basic " + base64(writeKey + ":"));
    headers.put("User-Agent", "service-sdk-cordova/" + settings.sdkVersion + " (Android " + Build.VERSION.RELEASE + ")");
    return headers;
  }

  /** The host of a redirect; nothing else of it may be told. */
  private static String towards(String location) {
    String host = location == null ? null : Uri.parse(location).getHost();
    return host == null ? "" : " towards " + host;
  }

  private static String base64(String text) {
    return Base64.encodeToString(text.getBytes(StandardCharsets.UTF_8), Base64.NO_WRAP);
  }

  private static byte[] compressed(byte[] text) {
    ByteArrayOutputStream compressed = new ByteArrayOutputStream(text.length / 4);
    try (GZIPOutputStream gzip = new GZIPOutputStream(compressed)) {
      gzip.write(text);
    } catch (IOException impossible) {
      throw new IllegalStateException(impossible);
    }
    return compressed.toByteArray();
  }
}
