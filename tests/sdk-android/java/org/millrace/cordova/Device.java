package org.millrace.cordova;

import android.app.Activity;
import android.content.Context;
import android.database.Cursor;
import android.database.sqlite.SQLiteDatabase;
import android.os.Looper;
import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;
import org.robolectric.Robolectric;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.Shadows;

/** A phone with our engine: the process may end and begin again, files and clock stay. */
final class Device implements AutoCloseable {
  private static final int PATIENCE_S = 30;

  final Context context = RuntimeEnvironment.getApplication();
  final File folder;
  final File database;
  final File guard;
  final ManualClock clock = new ManualClock();
  final ScriptedFaults faults = new ScriptedFaults();
  final DataPlane server;
  final List<String> jobs = new ArrayList<>();

  /** All signals of this process, in order. */
  final LinkedBlockingQueue<JSONObject> signals = new LinkedBlockingQueue<>();

  double random;
  boolean isOnline = true;

  /** Runs while the platform is asked for the id. */
  volatile Runnable atAdvertisingId = () -> {};

  private final Signals page = this::hear;
  private Activity activity;
  private Lifecycle lifecycle;
  private Engine engine;

  Device() throws Exception {
    this(new File(RuntimeEnvironment.getApplication().getNoBackupFilesDir(), "service-sdk-cordova"));
  }

  /** One whose files are here. */
  Device(File folder) throws Exception {
    this.folder = folder;
    database = new File(folder, "events.db");
    guard = new File(folder, "guard.json");
    server = new DataPlane(clock);
  }

  /** The engine of the running process, which begins here if there is none: in the foreground, with a page that listens. */
  Engine engine() {
    if (engine == null) {
      Lifecycle.Listener nobody =
          new Lifecycle.Listener() {
            @Override
            public void entered(String url) {}

            @Override
            public void left() {}
          };
      lifecycle = new Lifecycle();
      lifecycle.setListener(nobody);
      activity = Robolectric.buildActivity(Activity.class).get();
      lifecycle.onActivityStarted(activity);
      idle();
      engine = newEngine(lifecycle);
      lifecycle.setListener(engine);
      engine.listen(page);
    }
    return engine;
  }

  /** One that nobody has started: as a process has it that only a job brought up. */
  Engine newEngine(Lifecycle lifecycle) {
    return new Engine(context, folder, clock, () -> random, faults, new FixedFacts(), lifecycle, new Jobs());
  }

  /** The answer of an action: an object, or null. */
  JSONObject act(String action, Object argument) throws Exception {
    return act(engine(), action, argument);
  }

  JSONObject act(Engine engine, String action, Object argument) throws Exception {
    return begin(engine, action, argument).get(PATIENCE_S, TimeUnit.SECONDS);
  }

  /** Without waiting for the answer. */
  CompletableFuture<JSONObject> begin(Engine engine, String action, Object argument) {
    CompletableFuture<JSONObject> answered = new CompletableFuture<>();
    JSONArray args = new JSONArray();
    args.put(argument == null ? JSONObject.NULL : argument);
    engine.act(
        page,
        action,
        args,
        new Engine.Answer() {
          @Override
          public void success(JSONObject value) {
            answered.complete(value);
          }

          @Override
          public void failure(String code, String detail) {
            answered.completeExceptionally(new Refused(code, detail));
          }
        });
    return answered;
  }

  static final class Refused extends Exception {
    private static final long serialVersionUID = 1;
    final String code;

    Refused(String code, String detail) {
      super(code + ": " + detail);
      this.code = code;
    }
  }

  JSONObject settings() throws JSONException {
    return new JSONObject()
        .put("writeKey", "wk-1")
        .put("dataPlaneUrl", server.url())
        .put("controlPlaneUrl", server.url())
        .put("flushQueueSize", 30)
        .put("dbThresholdCount", 10000)
        .put("gzip", false)
        .put("logLevel", 5)
        .put("collectDeviceId", false)
        .put("requireConsent", false)
        .put("sdkVersion", "1.4.0");
  }

  JSONObject open(Object... overrides) throws Exception {
    JSONObject settings = settings();
    for (int at = 0; at < overrides.length; at += 2) settings.put((String) overrides[at], overrides[at + 1]);
    return act("open", settings);
  }

  /** Events of these names, in one push. */
  JSONObject push(String... events) throws Exception {
    JSONArray rows = new JSONArray();
    for (String event : events) rows.put(new JSONObject().put("body", body(event)));
    return act("push", new JSONObject().put("rows", rows).put("state", new JSONObject()));
  }

  JSONObject drain(boolean force) throws Exception {
    return act("drain", new JSONObject().put("force", force));
  }

  JSONObject putState(String key, String value) throws Exception {
    return act("state", new JSONObject().put(key, value == null ? JSONObject.NULL : value));
  }

  /** Lines for the console that hold this text. */
  List<String> lines(String holding) {
    List<String> lines = new ArrayList<>();
    for (JSONObject signal : signals) {
      if (signal.optString("t").equals("log") && signal.optString("text").contains(holding)) lines.add(signal.optString("text"));
    }
    return lines;
  }

  static String errorCode(JSONObject answer) throws JSONException {
    JSONObject report = answer.getJSONObject("report");
    return report.has("lastError") ? report.getJSONObject("lastError").getString("code") : null;
  }

  /** Leaves the foreground; where the engine is open, until its own drain has ended. */
  JSONObject leave(boolean isOpen) throws Exception {
    engine();
    lifecycle.onActivityStopped(activity);
    idle();
    return isOpen ? awaitSignal("drained") : awaitSignal("stop");
  }

  void enter() throws Exception {
    engine();
    lifecycle.onActivityStarted(activity);
    idle();
    awaitSignal("start");
  }

  /** The process ends; nothing of it is left but files. */
  void kill() throws Exception {
    if (engine != null) engine.close();
    engine = null;
    signals.clear();
  }

  /** From now on the guard is there and cannot be read: a folder has its name. */
  void closeGuard() {
    guard.renameTo(closedGuard());
    if (!guard.mkdirs()) throw new AssertionError("cannot make " + guard);
  }

  void openGuard() {
    if (!guard.delete()) throw new AssertionError("cannot delete " + guard);
    closedGuard().renameTo(guard);
  }

  private File closedGuard() {
    return new File(folder, "guard.json.closed");
  }

  /** Events in the queue: those of the database, then those in memory. */
  List<String> rows() throws Exception {
    List<String> bodies = new ArrayList<>();
    if (database.exists()) {
      try (SQLiteDatabase file = SQLiteDatabase.openDatabase(database.getPath(), null, SQLiteDatabase.OPEN_READWRITE);
          Cursor cursor = file.rawQuery("SELECT body FROM events ORDER BY id", null)) {
        while (cursor.moveToNext()) bodies.add(cursor.getString(0));
      }
    }
    Engine running = engine();
    for (Row row : running.worker.call(() -> new ArrayList<>(running.store.memory.rows))) bodies.add(row.body);
    List<String> events = new ArrayList<>();
    for (String body : bodies) events.add(new JSONObject(body).getString("event"));
    return events;
  }

  String value(String key) throws Exception {
    Engine running = engine();
    return running.worker.call(() -> running.store.value(key));
  }

  static String body(String event) {
    return "{\"messageId\":\"" + event + "\",\"originalTimestamp\":\"2026-11-20T09:30:00.000Z\",\"type\":\"track\",\"event\":\"" + event + "\"}";
  }

  @Override
  public void close() throws Exception {
    kill();
    server.close();
  }

  private void hear(JSONObject signal) {
    signals.add(signal);
    synchronized (signals) {
      signals.notifyAll();
    }
  }

  /** The signals before it are kept, for those who look later. */
  JSONObject awaitSignal(String kind) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_S);
    while (System.nanoTime() < deadline) {
      for (JSONObject signal : signals) {
        if (!signal.optString("t").equals(kind) || signal.has("seen")) continue;
        signal.put("seen", true);
        return signal;
      }
      synchronized (signals) {
        signals.wait(100);
      }
    }
    throw new AssertionError("no signal " + kind + " in " + PATIENCE_S + " s, only " + signals);
  }

  private static void idle() {
    Shadows.shadowOf(Looper.getMainLooper()).idle();
  }

  /** Those of contracts/cordova-sdk.md §8.2, but for the network, which a scenario sets. */
  private final class FixedFacts implements Facts {
    @Override
    public JSONObject lastingContext(boolean withDeviceId) {
      return Json.object("os", Json.object("name", "Android", "version", "15"));
    }

    @Override
    public JSONObject changingContext() {
      return Json.object("network", Json.object("wifi", isOnline, "cellular", false));
    }

    @Override
    public JSONObject release() {
      return Json.object("version", "3.2.0", "build", 320);
    }

    @Override
    public String platformVersion() {
      return "15.1.0";
    }

    @Override
    public boolean isOnline() {
      return isOnline;
    }

    @Override
    public JSONObject advertisingId() {
      atAdvertisingId.run();
      return new JSONObject();
    }
  }

  private final class Jobs implements DrainJobs {
    @Override
    public void schedule() {
      jobs.add("schedule");
    }

    @Override
    public void cancel() {
      jobs.add("cancel");
    }
  }
}
