package org.millrace.cordova;

import android.os.Looper;
import androidx.appcompat.app.AppCompatActivity;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;
import org.apache.cordova.CallbackContext;
import org.apache.cordova.CordovaInterface;
import org.apache.cordova.PluginResult;
import org.json.JSONArray;
import org.json.JSONObject;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.Robolectric;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.Shadows;
import org.robolectric.android.controller.ActivityController;
import org.robolectric.annotation.Config;

/**
 * The native half of an app, for a page that runs in another process: calls of cordova.exec come in as lines
 * `{"id", "action", "args"}`, and go out as `ANSWER {"id", "ok", "value"}`. The line `leave` stops the activity, and
 * the end of the input ends the process. The files of the SDK are in the folder named by the property `folder`.
 */
@RunWith(RobolectricTestRunner.class)
@Config(sdk = 35)
public final class PhoneProcess {
  private ActivityController<AppCompatActivity> activity;
  private ServiceClientPlugin plugin;

  @Test
  public void servesAPage() throws Exception {
    // The process of the test before left its files here.
    File kept = new File(System.getProperty("folder"));
    File own = new File(RuntimeEnvironment.getApplication().getNoBackupFilesDir(), "service-sdk-cordova");
    if (kept.exists()) copy(kept, own);
    activity = Robolectric.buildActivity(AppCompatActivity.class).create();
    CordovaInterface cordova =
        (CordovaInterface)
            Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {CordovaInterface.class}, (proxy, method, args) -> activity.get());
    plugin = new ServiceClientPlugin();
    plugin.privateInitialize("ServiceClient", cordova, null, null);
    activity.start().resume();
    idle();
    System.out.println("\nREADY");

    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = lines.readLine()) != null; ) {
      if (line.equals("leave")) activity.pause().stop();
      else call(new JSONObject(line));
      idle();
    }
    ServiceClientPlugin.ofProcess.close();
    ServiceClientPlugin.ofProcess = null;
    copy(own, kept);
  }

  private void call(JSONObject call) throws Exception {
    CallbackContext callback =
        new CallbackContext(call.getString("id"), null) {
          @Override
          public void sendPluginResult(PluginResult result) {
            boolean isOk = result.getStatus() == PluginResult.Status.OK.ordinal();
            String value = result.getMessageType() == PluginResult.MESSAGE_TYPE_NULL ? "null" : result.getMessage();
            // One write a line: answers come from several threads.
            System.out.println("\nANSWER {\"id\":" + getCallbackId() + ",\"ok\":" + isOk + ",\"value\":" + value + "}");
          }
        };
    JSONArray args = call.getJSONArray("args");
    plugin.execute(call.getString("action"), args.toString(), callback);
  }

  private static void copy(File from, File to) throws Exception {
    to.mkdirs();
    for (File file : from.listFiles()) {
      Files.copy(file.toPath(), new File(to, file.getName()).toPath(), StandardCopyOption.REPLACE_EXISTING);
    }
  }

  private static void idle() {
    Shadows.shadowOf(Looper.getMainLooper()).idle();
  }
}
