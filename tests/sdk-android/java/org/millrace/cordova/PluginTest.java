package org.millrace.cordova;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotSame;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertTrue;

import android.app.job.JobParameters;
import android.app.job.JobScheduler;
import android.content.Context;
import android.content.Intent;
import android.net.Uri;
import android.os.Looper;
import androidx.appcompat.app.AppCompatActivity;
import java.lang.reflect.Proxy;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.cordova.CallbackContext;
import org.apache.cordova.CordovaInterface;
import org.apache.cordova.CordovaPlugin;
import org.apache.cordova.PluginResult;
import org.json.JSONArray;
import org.json.JSONObject;
import org.junit.After;
import org.junit.Before;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.Robolectric;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.Shadows;
import org.robolectric.android.controller.ActivityController;
import org.robolectric.android.controller.ServiceController;
import org.robolectric.annotation.Config;

/** The whole of it as Cordova drives it: plugin, engine of the process, real activity, real clock, real job. */
@RunWith(RobolectricTestRunner.class)
@Config(sdk = 35)
public final class PluginTest {
  private final LinkedBlockingQueue<JSONObject> signals = new LinkedBlockingQueue<>();
  private DataPlane server;
  private ActivityController<AppCompatActivity> activity;
  private ServiceClientPlugin plugin;

  @Before
  public void start() throws Exception {
    server = new DataPlane(null);
    Intent intent = new Intent(Intent.ACTION_VIEW, Uri.parse("shop://cart"));
    activity = Robolectric.buildActivity(AppCompatActivity.class, intent).create();
    plugin = load(activity.get());
    activity.start().resume();
    plugin.onStart();
    idle();
    // What the start set off on the worker is over once this is answered.
    act("state", new JSONObject());
  }

  @After
  public void end() throws Exception {
    ServiceClientPlugin.ofProcess.close();
    ServiceClientPlugin.ofProcess = null;
    server.close();
  }

  @Test
  public void theFirstSignalIsHelloAndTheStreamStaysOpen() throws Exception {
    PluginResult first = listen();
    assertTrue(first.getKeepCallback());
    assertEquals("{\"t\":\"hello\"}", first.getMessage());
  }

  @Test
  public void anEventGoesFromThePageToTheServer() throws Exception {
    listen();
    JSONObject opened = new JSONObject(act("open", settings()).getMessage());
    assertEquals("sqlite", opened.getString("storage"));
    assertEquals("enabled", opened.getString("tracking"));
    JSONObject launch = opened.getJSONObject("launch");
    assertTrue(launch.getBoolean("foreground"));
    assertTrue(launch.isNull("marker"));
    assertEquals("shop://cart", launch.getString("url"));
    for (String member : new String[] {"app", "device", "locale", "network", "os", "screen"}) {
      assertTrue(member, opened.getJSONObject("context").has(member));
    }

    JSONArray rows = new JSONArray().put(new JSONObject().put("body", Device.body("A")));
    PluginResult pushed = act("push", new JSONObject().put("rows", rows).put("state", new JSONObject().put("anonymousId", "a-1")));
    assertEquals(1, new JSONObject(pushed.getMessage()).getInt("queued"));
    PluginResult drained = act("drain", new JSONObject().put("force", true));
    assertEquals("EMPTY", new JSONObject(drained.getMessage()).getString("outcome"));
    DataPlane.Batch batch = server.takeBatches().get(0);
    assertEquals("A", batch.events.get(0));
    assertEquals("a-1", batch.anonymousId);
  }

  @Test
  public void aPageThatIsLoadedAgainHearsWhetherTheAppIsOpen() throws Exception {
    assertFalse(isOpened());
    act("tail", "\"type\":\"track\",\"event\":\"Application Backgrounded\"}");
    assertTrue(isOpened());
    act("tail", JSONObject.NULL);
    assertFalse(isOpened());
  }

  private boolean isOpened() throws Exception {
    return new JSONObject(act("open", settings()).getMessage()).getJSONObject("launch").getBoolean("opened");
  }

  @Test
  public void anOptOutInOneWebViewReachesAnotherWhichHearsOfTheAppAgainOnceTheNewerOneIsGone() throws Exception {
    listen();
    act("open", settings());
    ServiceClientPlugin older = plugin;
    ServiceClientPlugin newer = load(activity.get());
    plugin = newer;
    listen();
    signals.clear();
    act("state", new JSONObject().put("tracking", "disabled").put("userId", JSONObject.NULL));
    JSONObject changed = await("changed").getJSONObject("state");
    assertEquals("disabled", changed.getString("tracking"));
    assertTrue(changed.isNull("userId"));
    act("state", new JSONObject().put("tracking", "enabled"));
    assertEquals("enabled", await("changed").getJSONObject("state").getString("tracking"));
    assertTrue("the one that calls does not hear itself", signals.isEmpty());

    newer.onDestroy();
    plugin = older;
    activity.pause().stop();
    idle();
    await("stop");
  }

  @Test
  public void anAnswerWithoutValueIsNull() throws Exception {
    assertEquals(PluginResult.MESSAGE_TYPE_NULL, act("tail", JSONObject.NULL).getMessageType());
  }

  @Test
  public void anActionThatIsNotKnownIsAnErrorWithItsCode() throws Exception {
    PluginResult result = act("explode", JSONObject.NULL);
    assertEquals(PluginResult.Status.ERROR.ordinal(), result.getStatus());
    assertEquals("UNKNOWN_ACTION", new JSONObject(result.getMessage()).getString("code"));
  }

  @Test
  public void leavingStoresAndSendsWithoutThePage() throws Exception {
    listen();
    act("open", settings());
    act("tail", "\"type\":\"track\",\"event\":\"Application Backgrounded\"}");
    // The page is frozen from here on: nobody calls any more.
    activity.pause().stop();
    idle();
    assertTrue(await("stop").getBoolean("stored"));
    assertEquals(1, await("drained").getInt("sent"));
    assertEquals("Application Backgrounded", server.takeBatches().get(0).events.get(0));
  }

  @Test
  public void cordovasPauseAndResumeCauseNoSignal() throws Exception {
    listen();
    act("open", settings());
    plugin.onPause(true);
    plugin.onResume(true);
    idle();
    act("state", new JSONObject());
    for (JSONObject signal : signals) assertFalse(signal.toString(), signal.getString("t").equals("start") || signal.getString("t").equals("stop"));
  }

  @Test
  public void aNewIntentBringsItsLink() throws Exception {
    listen();
    act("open", settings());
    activity.pause().stop();
    idle();
    activity.restart();
    plugin.onNewIntent(new Intent(Intent.ACTION_VIEW, Uri.parse("shop://offer")));
    idle();
    assertEquals("shop://offer", await("start").getString("url"));
  }

  @Test
  public void aPageThatIsLeftHearsNothingMore() throws Exception {
    listen();
    plugin.onReset();
    activity.pause().stop();
    idle();
    act("state", new JSONObject());
    assertEquals("hello alone", 1, signals.size());
  }

  @Test
  public void everyPluginOfTheProcessHasTheSameEngine() {
    Engine first = ServiceClientPlugin.engine(activity.get());
    ServiceClientPlugin second = load(activity.get());
    assertNotSame(plugin, second);
    assertSame(first, ServiceClientPlugin.engine(activity.get()));
  }

  @Test
  public void theJobOfAndroidSendsWhatWasLeft() throws Exception {
    act("open", settings());
    JSONArray rows = new JSONArray().put(new JSONObject().put("body", Device.body("A")));
    act("push", new JSONObject().put("rows", rows).put("state", new JSONObject()));
    ServiceController<DrainJobService> service = Robolectric.buildService(DrainJobService.class).create();
    assertTrue(service.get().onStartJob(null));
    server.awaitBatch();
    assertEquals("A", server.takeBatches().get(0).events.get(0));
    assertTrue("what is left is for another job", service.get().onStopJob((JobParameters) null));
  }

  @Test
  public void filesAreWhereNoBackupReaches() throws Exception {
    act("open", settings());
    Context context = RuntimeEnvironment.getApplication();
    assertTrue(new java.io.File(context.getNoBackupFilesDir(), "service-sdk-cordova/events.db").exists());
    JobScheduler scheduler = (JobScheduler) context.getSystemService(Context.JOB_SCHEDULER_SERVICE);
    assertEquals(0, scheduler.getAllPendingJobs().size());
  }

  private JSONObject settings() throws Exception {
    try (Device unused = new Device()) {
      return unused.settings().put("dataPlaneUrl", server.url()).put("controlPlaneUrl", server.url());
    }
  }

  private ServiceClientPlugin load(AppCompatActivity of) {
    CordovaInterface cordova =
        (CordovaInterface)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {CordovaInterface.class},
                (proxy, method, args) -> method.getName().equals("getActivity") || method.getName().equals("getContext") ? of : null);
    ServiceClientPlugin loaded = new ServiceClientPlugin();
    loaded.privateInitialize("ServiceClient", cordova, null, null);
    return loaded;
  }

  private PluginResult listen() throws Exception {
    LinkedBlockingQueue<PluginResult> results = new LinkedBlockingQueue<>();
    execute("listen", new JSONArray(), result -> {
      results.add(result);
      signals.add(parsed(result));
    });
    return results.poll(30, TimeUnit.SECONDS);
  }

  private PluginResult act(String action, Object argument) throws Exception {
    LinkedBlockingQueue<PluginResult> results = new LinkedBlockingQueue<>();
    execute(action, new JSONArray().put(argument), results::add);
    PluginResult result = results.poll(30, TimeUnit.SECONDS);
    assertFalse("one answer ends it", result.getKeepCallback());
    return result;
  }

  private interface Results {
    void add(PluginResult result);
  }

  /** By Cordova's own way in, which parses the arguments' text. */
  private void execute(String action, JSONArray args, Results results) throws Exception {
    CallbackContext callback =
        new CallbackContext("1", null) {
          @Override
          public void sendPluginResult(PluginResult result) {
            results.add(result);
          }
        };
    assertTrue(((CordovaPlugin) plugin).execute(action, args.toString(), callback));
  }

  private JSONObject await(String kind) throws Exception {
    for (JSONObject signal; (signal = signals.poll(30, TimeUnit.SECONDS)) != null; ) {
      if (signal.getString("t").equals(kind)) return signal;
    }
    throw new AssertionError("no signal " + kind);
  }

  private static JSONObject parsed(PluginResult result) {
    try {
      return new JSONObject(result.getMessage());
    } catch (org.json.JSONException impossible) {
      throw new AssertionError(impossible);
    }
  }

  private static void idle() {
    Shadows.shadowOf(Looper.getMainLooper()).idle();
  }
}
