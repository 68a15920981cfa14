package org.millrace.cordova;

import android.content.Context;
import java.io.File;
import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleSupplier;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/**
 * What is behind the bridge on Android, once a process: keeps rows, sends them and watches the app. The plugin, the signals of
 * Android and the background job all come here. Storage belongs to one thread, the network to two others; nothing blocks the
 * caller and nothing is thrown at it.
 *
 * @see "sdks/cordova/BRIDGE.md"
 */
final class Engine implements Lifecycle.Listener {
  private static final List<String> KEPT_BY_PURGE =
      Arrays.asList(
          "tracking", "marker", "source", "trimmed", "refused", "purged", "refusals", "plain", "settings");

  private final Clock clock;
  private final Facts facts;
  private final Lifecycle lifecycle;
  private final DrainJobs jobs;
  private final Diagnostics diagnostics;
  final Worker worker;
  private final Worker asking;
  private final GuardFile guard;
  final EventStore store;
  private final Identity identity;
  private final SendRules rules;
  private final EventSender sender;
  private final Drains drains;
  private final Http configHttp = new Http();

  // Of the worker thread:
  private Settings settings;
  private String tail;

  /** The page was told that consent is awaited, because the guard could not be read. */
  private boolean isGuardAwaited;

  /** Of one action. */
  interface Answer {
    /** @param value null is null */
    void success(JSONObject value);

    void failure(String code, String detail);
  }

  /** Hears how the background job ended. */
  interface JobEnd {
    void ended(boolean again);
  }

  private interface Work {
    void run() throws JSONException, InterruptedException;
  }

  Engine(
      Context context,
      File folder,
      Clock clock,
      DoubleSupplier random,
      FaultPoint faults,
      Facts facts,
      Lifecycle lifecycle,
      DrainJobs jobs) {
    this.clock = clock;
    this.facts = facts;
    this.lifecycle = lifecycle;
    this.jobs = jobs;
    diagnostics = new Diagnostics(clock, lifecycle);
    worker = new Worker("ServiceClient", diagnostics::threw);
    asking = new Worker("ServiceClient-asking", diagnostics::threw);
    guard = new GuardFile(folder, worker);
    store = new EventStore(context, folder, worker, faults, diagnostics);
    identity = new Identity(store, guard);
    rules = new SendRules(store, clock, random);
    sender = new EventSender(store, rules, identity, diagnostics, facts, worker, clock);
    drains = new Drains(sender, worker, diagnostics::threw);
  }

  Lifecycle lifecycle() {
    return lifecycle;
  }

  /** The first signal is sent at once, before storage is touched. */
  void listen(Signals stream) {
    diagnostics.listen(stream);
    stream.send(Json.object("t", "hello"));
  }

  /** The page of this stream is gone. */
  void stopListening(Signals stream) {
    diagnostics.stopListening(stream);
  }

  /** All actions but `listen`; each is answered once, by any thread. @param page that calls; null: it does not listen */
  void act(Signals page, String action, JSONArray args, Answer answer) {
    switch (action) {
      case "open":
        answered(worker, answer, () -> answer.success(open(new Settings(args.getJSONObject(0)))));
        break;
      case "push":
        answered(worker, answer, () -> push(page, args.getJSONObject(0), answer));
        break;
      case "state":
        answered(worker, true, answer, () -> putState(page, Json.texts(args.getJSONObject(0)), answer));
        break;
      case "tail":
        answered(worker, answer, () -> putTail(args, answer));
        break;
      case "drain":
        answered(worker, answer, () -> drain(args.getJSONObject(0).getBoolean("force"), answer));
        break;
      case "purge":
        answered(worker, true, answer, () -> purge(args.getString(0), answer));
        break;
      case "config":
        answered(worker, answer, () -> config(args.getJSONObject(0), answer));
        break;
      case "advertId":
        answered(asking, answer, () -> answer.success(facts.advertisingId()));
        break;
      default:
        answer.failure("UNKNOWN_ACTION", action);
    }
  }

  /** The app came to the foreground. */
  @Override
  public void entered(String url) {
    worker.post(
        () -> {
          lookAtGuard();
          signal(Json.object("t", "start", "url", url, "context", facts.changingContext()));
        });
  }

  /** It left: the prepared event is stored and everything sent, without any JavaScript. */
  @Override
  public void left() {
    worker.post(
        () -> {
          lookAtGuard();
          boolean isStored = tail != null && settings != null && identity.tracking().equals("enabled");
          if (isStored) {
            Change change = added();
            change.added.add(BatchText.event(tail, clock.now()));
            store.commit(change);
          }
          tail = null;
          if (settings != null) leaveBehind();
          signal(Json.object("t", "stop", "stored", isStored));
        });
  }

  /** The network, or a fact of `context`, changed. */
  void changed() {
    worker.post(
        () -> {
          lookAtGuard();
          signal(Json.object("t", "network", "online", facts.isOnline(), "context", facts.changingContext()));
        });
  }

  /** Of the background job, perhaps in a process that has no page and never had one. */
  void drainForJob(JobEnd end) {
    worker.post(
        () -> {
          try {
            if (settings == null && !"disabled".equals(guard.get("tracking"))) useStoredSettings();
            if (settings == null) {
              end.ended(false);
              return;
            }
            drains.start(
                settings, false, (result, failure) -> end.ended(failure == null && store.count() > 0 && result.isWait()));
          } catch (Throwable failure) {
            end.ended(false);
            diagnostics.threw(failure);
          }
        });
  }

  /** Ends its threads and closes its files. The one of the process is never closed. */
  void close() throws InterruptedException {
    drains.close();
    asking.end();
    worker.call(
        () -> {
          store.close();
          return null;
        });
    worker.end();
  }

  private JSONObject open(Settings opened) throws JSONException {
    use(opened);
    boolean isUnread = guard.isUnread();
    String tracking = identity.tracking();
    boolean isAwaiting = tracking.equals("awaiting-consent");
    isGuardAwaited = isUnread && isAwaiting;
    if (isUnread) diagnostics.storageFailed(StorageFailure.CANNOT_OPEN.code, new IOException("guard.json cannot be read"));
    JSONObject answer = Json.object("tracking", tracking, "launch", launch(), "context", context());
    keepForJob(isAwaiting);
    if (isAwaiting) {
      jobs.cancel();
    } else {
      identity.restore();
      answer.put("state", new JSONObject(store.state()));
    }
    answer.put("queued", isAwaiting ? 0 : store.count());
    answer.put("storage", store.storage());
    answer.put("report", report());
    return answer;
  }

  private void use(Settings now) {
    settings = now;
    diagnostics.setLevel(now.logLevel);
    identity.setRequiresConsent(now.requireConsent);
  }

  /** The guard can be read at last: the page hears whether tracking is allowed, and then opens again. */
  private void lookAtGuard() {
    if (!isGuardAwaited || guard.isUnread()) return;
    isGuardAwaited = false;
    // What closed the one may have closed the other.
    store.lookAgain();
    String tracking = identity.tracking();
    if (!tracking.equals("awaiting-consent")) signal(Json.object("t", "changed", "state", Json.object("tracking", tracking)));
  }

  /**
   * A marker that cannot be read is there, so this is no first start: the app counts as unchanged, and a later start tells of an
   * update.
   */
  private JSONObject launch() throws JSONException {
    JSONObject launch = facts.release();
    boolean isUnread = guard.isUnread();
    String guarded = guard.get("marker");
    String marker = guarded == null && !isUnread ? store.value("marker") : guarded;
    Object ofNow = isUnread ? facts.release() : JSONObject.NULL;
    launch.put("marker", marker == null ? ofNow : parsed(marker));
    launch.put("foreground", lifecycle.isForeground());
    launch.put("opened", tail != null);
    launch.putOpt("url", lifecycle.url());
    return launch;
  }

  private JSONObject context() throws JSONException {
    JSONObject context = facts.lastingContext(settings.collectDeviceId);
    JSONObject changing = facts.changingContext();
    for (int at = 0; changing.names() != null && at < changing.names().length(); at++) {
      String name = changing.names().getString(at);
      context.put(name, changing.get(name));
    }
    return context;
  }

  /** While consent is awaited nothing new is stored; but a job of an earlier run must know that it has to wait, too. */
  private void keepForJob(boolean isAwaiting) {
    String kept = store.value("settings");
    if (settings.text.equals(kept) || (isAwaiting && kept == null)) return;
    store.commit(Change.ofState(Collections.singletonMap("settings", settings.text)));
  }

  private void push(Signals page, JSONObject batch, Answer answer) throws JSONException {
    if (isNotOpen(answer)) return;
    Change change = added();
    JSONArray rows = batch.getJSONArray("rows");
    for (int at = 0; at < rows.length(); at++) change.added.add(rows.getJSONObject(at).getString("body"));
    change.state.putAll(Json.texts(batch.getJSONObject("state")));
    // The guard comes after: a marker there says that the event of it is stored.
    boolean isInMemory = store.commit(change);
    putGuard(change.state);
    follow(change.state);
    share(page, change.state);
    answer.success(Json.object("queued", store.count(), "inMemory", isInMemory, "report", report()));
  }

  private Change added() {
    Change change = new Change();
    change.writeKey = settings.writeKey;
    change.keepAtMost = settings.dbThresholdCount;
    return change;
  }

  /** The guard comes first: an opt-out that it holds is never lost. */
  private void putState(Signals page, Map<String, String> changes, Answer answer) {
    if ("disabled".equals(changes.get("tracking"))) abort();
    boolean isGuarded = putGuard(changes);
    boolean isInMemory = store.commit(Change.ofState(changes));
    follow(changes);
    share(page, changes);
    // In one of the two places an opt-out holds; the end of one does not.
    boolean isLost = isInMemory == isGuarded ? "enabled".equals(changes.get("tracking")) : isInMemory;
    answer.success(Json.object("inMemory", isLost));
  }

  /** @return whether the guard holds those that are guarded */
  private boolean putGuard(Map<String, String> changes) {
    try {
      return guard.put(changes);
    } catch (IOException failure) {
      diagnostics.storageFailed(StorageFailure.IO.code, failure);
      return false;
    }
  }

  /** Other WebViews of the app follow an opt-out and the user as tabs of a browser do. */
  private void share(Signals page, Map<String, String> changes) {
    JSONObject state = new JSONObject();
    for (Map.Entry<String, String> change : changes.entrySet()) {
      Json.put(state, change.getKey(), change.getValue() == null ? JSONObject.NULL : change.getValue());
    }
    if (state.length() > 0) diagnostics.signalOthers(page, Json.object("t", "changed", "state", state));
  }

  /** What values mean for sending. */
  private void follow(Map<String, String> changes) {
    if ("disabled".equals(changes.get("tracking"))) {
      abort();
      jobs.cancel();
    }
    if ("enabled".equals(changes.get("tracking"))) {
      sender.allow();
      configHttp.allow();
    }
    if (changes.get("source") != null) rules.follow(changes.get("source"));
  }

  /** Of the events and of the source configuration, which may still wait for its thread. */
  private void abort() {
    sender.abort();
    configHttp.abort();
  }

  private void putTail(JSONArray args, Answer answer) throws JSONException {
    tail = args.isNull(0) ? null : args.getString(0);
    answer.success(null);
  }

  private void drain(boolean force, Answer answer) {
    if (isNotOpen(answer)) return;
    if (drains.isFull()) {
      answer.success(Json.object("sent", 0, "remaining", store.count(), "outcome", "BUSY", "report", report()));
      return;
    }
    drains.start(
        settings,
        force,
        (result, failure) -> {
          if (failure == null) answer.success(drained(result));
          else answer.failure("INTERNAL", String.valueOf(failure));
        });
  }

  /** The app may be frozen at any moment from now on: the job goes on where this drain is ended. */
  private void leaveBehind() {
    if (store.count() > 0 && sender.barred(settings) == null) jobs.schedule();
    drains.start(
        settings,
        false,
        (result, failure) -> {
          if (failure != null) return;
          if (store.count() == 0 || !result.isWait()) jobs.cancel();
          JSONObject signal = drained(result);
          Json.put(signal, "t", "drained");
          signal(signal);
        });
  }

  private JSONObject drained(EventSender.Result result) {
    return Json.object(
        "sent", result.sent,
        "remaining", store.count(),
        "outcome", result.outcome,
        "retryAfterMs", result.retryAfterMs < 0 ? null : result.retryAfterMs,
        "report", report());
  }

  private void useStoredSettings() throws JSONException {
    String text = store.value("settings");
    if (text != null) use(new Settings(new JSONObject(text)));
  }

  private void purge(String what, Answer answer) throws JSONException {
    boolean isAll = what.equals("all");
    if (!isAll && !what.equals("events")) throw new JSONException("neither events nor all");
    Map<String, String> state = new LinkedHashMap<>();
    if (isAll) {
      for (String key : store.state().keySet()) if (!KEPT_BY_PURGE.contains(key)) state.put(key, null);
      state.put("anonymousId", null);
      putGuard(state);
    }
    state.put("purged", String.valueOf(EventStore.counter(store.value("purged")) + store.count()));
    store.purge(state);
    answer.success(null);
  }

  private void config(JSONObject known, Answer answer) {
    if (isNotOpen(answer)) return;
    Settings ofNow = settings;
    if (ofNow.controlPlaneUrl.isEmpty() || !identity.tracking().equals("enabled")) {
      answer.success(Json.object("status", 0));
      return;
    }
    String etag = known.optString("etag");
    answered(asking, answer, () -> answer.success(SourceConfig.fetch(configHttp, ofNow, facts.platformVersion(), etag)));
  }

  private boolean isNotOpen(Answer answer) {
    if (settings == null) answer.failure("NOT_OPEN", "open comes first");
    return settings == null;
  }

  private JSONObject report() {
    return diagnostics.report(store);
  }

  private void signal(JSONObject signal) {
    diagnostics.signal(signal);
  }

  private void answered(Worker thread, Answer answer, Work work) {
    answered(thread, false, answer, work);
  }

  /** Runs it on a thread of ours; whatever happens there is an answer. @param isUrgent as an opt-out is */
  private void answered(Worker thread, boolean isUrgent, Answer answer, Work work) {
    boolean isTaken =
        thread.offer(
            isUrgent,
            () -> {
              try {
                if (thread == worker) lookAtGuard();
                work.run();
              } catch (JSONException wrong) {
                answer.failure("BAD_ARGUMENT", String.valueOf(wrong.getMessage()));
              } catch (Throwable failure) {
                diagnostics.threw(failure);
                answer.failure("INTERNAL", String.valueOf(failure));
              }
            });
    if (isTaken) return;
    diagnostics.log(1, "QUEUE_FULL: 10,000 calls wait for storage; this one was dropped");
    answer.failure("QUEUE_FULL", "10,000 calls wait");
  }

  private static Object parsed(String json) {
    try {
      return new JSONObject(json);
    } catch (JSONException damaged) {
      return JSONObject.NULL;
    }
  }
}
