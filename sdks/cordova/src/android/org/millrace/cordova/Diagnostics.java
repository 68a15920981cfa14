package org.millrace.cordova;

import android.util.Log;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.json.JSONObject;

/**
 * What is told of the engine: signals to the page, lines to its console or to Android's log, and the report that travels with
 * answers.
 *
 * @see "contracts/cordova-sdk.md §2.3, §4"
 */
final class Diagnostics implements EventStore.Reports {
  private static final int DETAIL_LENGTH = 200;

  private final Clock clock;
  private final Lifecycle lifecycle;

  /** Of each WebView of the app that listens; the newest is the page that hears of the app. */
  private final List<Signals> pages = new CopyOnWriteArrayList<>();

  private volatile int level;
  private volatile JSONObject lastError;

  /** Of the worker thread. */
  private final Set<String> toldFailures = new HashSet<>();

  Diagnostics(Clock clock, Lifecycle lifecycle) {
    this.clock = clock;
    this.lifecycle = lifecycle;
  }

  void listen(Signals stream) {
    pages.add(stream);
  }

  void stopListening(Signals stream) {
    pages.remove(stream);
  }

  /** @param level 0 (none) to 5 (verbose) */
  void setLevel(int level) {
    this.level = level;
  }

  void signal(JSONObject signal) {
    Signals stream = page();
    if (stream != null) stream.send(signal);
  }

  /** To every page but this one. */
  void signalOthers(Signals page, JSONObject signal) {
    for (Signals other : pages) if (other != page) other.send(signal);
  }

  private Signals page() {
    Signals newest = null;
    for (Signals page : pages) newest = page;
    return newest;
  }

  /** To the page's console while the app is in front, else to Android's log. */
  void log(int level, String text) {
    if (level > this.level) return;
    Signals stream = page();
    if (stream != null && lifecycle.isForeground()) stream.send(Json.object("t", "log", "level", level, "text", text));
    else Log.println(level <= 1 ? Log.ERROR : level == 2 ? Log.WARN : level == 3 ? Log.INFO : Log.DEBUG, "ServiceClient", text);
  }

  /** The latest trouble. */
  void failed(String code, String detail) {
    String start = detail.substring(0, Math.min(DETAIL_LENGTH, detail.length()));
    lastError = Json.object("code", code, "at", BatchText.time(clock.now()), "detail", start);
  }

  /** One line per kind and run. Worker thread only, as are the rest. */
  @Override
  public void storageFailed(String code, Throwable failure) {
    failed(code, String.valueOf(failure.getMessage()));
    if (toldFailures.add(code)) log(1, "Storage failed (" + code + "): " + failure.getMessage());
  }

  @Override
  public void storageLost(long events) {
    String detail = "the " + events + " oldest events were deleted";
    failed("STORAGE_FULL", detail);
    log(1, "STORAGE_FULL " + detail);
  }

  JSONObject report(EventStore store) {
    JSONObject dropped = new JSONObject();
    for (String counter : new String[] {"trimmed", "refused", "purged"}) {
      Json.put(dropped, counter, EventStore.counter(store.value(counter)));
    }
    return Json.object("storage", store.storage(), "dropped", dropped, "lastError", lastError);
  }

  /** A mistake of ours, by any thread; the app never sees it. */
  void threw(Throwable failure) {
    log(1, "Internal error: " + failure);
  }
}
