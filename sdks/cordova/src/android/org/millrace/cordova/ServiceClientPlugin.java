package org.millrace.cordova;

import android.app.Activity;
import android.app.Application;
import android.content.Context;
import android.content.Intent;
import java.io.File;
import java.security.SecureRandom;
import org.apache.cordova.CallbackContext;
import org.apache.cordova.CordovaPlugin;
import org.apache.cordova.CordovaWebView;
import org.apache.cordova.PluginResult;
import org.json.JSONArray;
import org.json.JSONObject;

/** The bridge's end on Android: passes the actions of the page to the engine of the process, and its answers back. */
public final class ServiceClientPlugin extends CordovaPlugin {
  static Engine ofProcess;

  private Engine engine;
  private Signals stream;

  /** The one of this process, made at its first use, on the main thread: by the plugin or by the background job. */
  static synchronized Engine engine(Context anyContext) {
    if (ofProcess == null) {
      Application application = (Application) anyContext.getApplicationContext();
      File folder = new File(application.getNoBackupFilesDir(), "service-sdk-cordova");
      DeviceFacts facts = new DeviceFacts(application, CordovaWebView.CORDOVA_VERSION);
      Lifecycle lifecycle = new Lifecycle();
      DrainJobService.Schedule jobs = new DrainJobService.Schedule(application);
      SecureRandom random = new SecureRandom();
      ofProcess =
          new Engine(application, folder, Clock.SYSTEM, random::nextDouble, FaultPoint.NONE, facts, lifecycle, jobs);
      lifecycle.setListener(ofProcess);
      application.registerActivityLifecycleCallbacks(lifecycle);
      facts.watch(ofProcess::changed);
    }
    return ofProcess;
  }

  @Override
  protected void pluginInitialize() {
    engine = engine(cordova.getContext());
    opened(cordova.getActivity().getIntent());
  }

  @Override
  public boolean execute(String action, JSONArray args, CallbackContext callback) {
    if (action.equals("listen")) {
      onReset();
      stream = signal -> callback.sendPluginResult(kept(signal));
      engine.listen(stream);
    } else {
      engine.act(stream, action, args, new CallbackAnswer(callback));
    }
    return true;
  }

  @Override
  public void onStart() {
    // Where the plugin was loaded after the start, this is the only word of it.
    engine.lifecycle().onActivityStarted(cordova.getActivity());
  }

  @Override
  public void onNewIntent(Intent intent) {
    opened(intent);
  }

  /** The page is left: what listened is gone. */
  @Override
  public void onReset() {
    if (stream != null) engine.stopListening(stream);
  }

  @Override
  public void onDestroy() {
    onReset();
  }

  private void opened(Intent intent) {
    if (intent == null || (intent.getFlags() & Intent.FLAG_ACTIVITY_LAUNCHED_FROM_HISTORY) != 0) return;
    engine.lifecycle().opened(intent.getDataString());
  }

  private static PluginResult kept(JSONObject signal) {
    PluginResult result = new PluginResult(PluginResult.Status.OK, signal);
    result.setKeepCallback(true);
    return result;
  }

  private static final class CallbackAnswer implements Engine.Answer {
    private final CallbackContext callback;

    private CallbackAnswer(CallbackContext callback) {
      this.callback = callback;
    }

    @Override
    public void success(JSONObject value) {
      if (value == null) callback.sendPluginResult(new PluginResult(PluginResult.Status.OK, (String) null));
      else callback.success(value);
    }

    @Override
    public void failure(String code, String detail) {
      callback.error(Json.object("code", code, "detail", detail));
    }
  }
}
