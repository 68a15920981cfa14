package org.millrace.cordova;

import android.annotation.SuppressLint;
import android.content.ComponentCallbacks;
import android.content.Context;
import android.content.pm.PackageInfo;
import android.content.pm.PackageManager;
import android.content.res.Configuration;
import android.hardware.display.DisplayManager;
import android.net.ConnectivityManager;
import android.net.Network;
import android.net.NetworkCapabilities;
import android.os.Build;
import android.provider.Settings.Secure;
import android.util.DisplayMetrics;
import android.view.Display;
import java.lang.reflect.Method;
import java.util.Locale;
import org.json.JSONObject;

/**
 * What Android says of app, device, network, screen and locale. A fact that cannot be had is left out; no permission beyond
 * the two of plugin.xml is used, and no id of the device unless it was asked for.
 *
 * @see "contracts/cordova-sdk.md §9, §13"
 */
final class DeviceFacts implements Facts {
  private static final String NO_ADVERTISING_ID = "00000000-0000-0000-0000-000000000000";

  private final Context context;
  private final String platformVersion;

  /** What the network was when that was last told. */
  private String toldNetwork = "";

  /** Read once a process. */
  private JSONObject advertisingId;

  DeviceFacts(Context context, String platformVersion) {
    this.context = context;
    this.platformVersion = platformVersion;
  }

  /** @param changed is run, on any thread, when the network, the orientation or the language changes */
  void watch(Runnable changed) {
    context.registerComponentCallbacks(
        new ComponentCallbacks() {
          @Override
          public void onConfigurationChanged(Configuration configuration) {
            changed.run();
          }

          @Override
          @SuppressWarnings("deprecation")
          public void onLowMemory() {}
        });
    try {
      connectivity()
          .registerDefaultNetworkCallback(
              new ConnectivityManager.NetworkCallback() {
                @Override
                public void onCapabilitiesChanged(Network network, NetworkCapabilities capabilities) {
                  if (isNew(network(capabilities).toString())) changed.run();
                }

                @Override
                public void onLost(Network network) {
                  if (isNew("none")) changed.run();
                }
              });
    } catch (RuntimeException withoutPermission) {
      // Then nothing is known of the network, and every request finds out for itself.
    }
  }

  @Override
  public JSONObject lastingContext(boolean withDeviceId) {
    JSONObject device =
        Json.object(
            "manufacturer", Build.MANUFACTURER,
            "model", Build.MODEL,
            "name", Build.DEVICE,
            "type", "Android",
            "id", withDeviceId ? deviceId() : null);
    return Json.object(
        "app", app(),
        "device", device,
        "os", Json.object("name", "Android", "version", Build.VERSION.RELEASE));
  }

  @Override
  public JSONObject changingContext() {
    return Json.object("locale", Locale.getDefault().toLanguageTag(), "network", network(), "screen", screen());
  }

  @Override
  @SuppressWarnings("deprecation") // getLongVersionCode() is of API 28, and the code of a build fits an int.
  public JSONObject release() {
    try {
      PackageInfo of = context.getPackageManager().getPackageInfo(context.getPackageName(), 0);
      return Json.object("version", of.versionName, "build", of.versionCode);
    } catch (PackageManager.NameNotFoundException | RuntimeException unknown) {
      return new JSONObject();
    }
  }

  @Override
  public String platformVersion() {
    return platformVersion;
  }

  /** Also true when that is not known. */
  @Override
  public boolean isOnline() {
    try {
      return connectivity().getActiveNetwork() != null;
    } catch (RuntimeException withoutPermission) {
      return true;
    }
  }

  /** By reflection, so that only apps which have this class, and its permission, can have the id. */
  @Override
  public synchronized JSONObject advertisingId() {
    if (advertisingId == null) advertisingId = readAdvertisingId();
    return advertisingId;
  }

  private synchronized boolean isNew(String network) {
    boolean isNew = !network.equals(toldNetwork);
    toldNetwork = network;
    return isNew;
  }

  private JSONObject readAdvertisingId() {
    try {
      Class<?> client = Class.forName("com.google.android.gms.ads.identifier.AdvertisingIdClient");
      Method read = client.getMethod("getAdvertisingIdInfo", Context.class);
      Object info = read.invoke(null, context);
      boolean isLimited = (Boolean) info.getClass().getMethod("isLimitAdTrackingEnabled").invoke(info);
      String id = (String) info.getClass().getMethod("getId").invoke(info);
      boolean isNone = isLimited || id == null || id.isEmpty() || id.equals(NO_ADVERTISING_ID);
      return Json.object("id", isNone ? null : id, "enabled", !isLimited);
    } catch (ReflectiveOperationException | LinkageError | RuntimeException unknown) {
      return new JSONObject();
    }
  }

  private JSONObject app() {
    JSONObject release = release();
    return Json.object(
        "name", context.getApplicationInfo().loadLabel(context.getPackageManager()).toString(),
        "version", release.opt("version"),
        "build", release.opt("build"),
        "namespace", context.getPackageName());
  }

  @SuppressLint("HardwareIds") // Only with the option collectDeviceId.
  private String deviceId() {
    return Secure.getString(context.getContentResolver(), Secure.ANDROID_ID);
  }

  private JSONObject network() {
    try {
      ConnectivityManager connectivity = connectivity();
      return network(connectivity.getNetworkCapabilities(connectivity.getActiveNetwork()));
    } catch (RuntimeException withoutPermission) {
      return null;
    }
  }

  /** @param capabilities null: there is no network */
  private static JSONObject network(NetworkCapabilities capabilities) {
    return Json.object(
        "wifi", capabilities != null && capabilities.hasTransport(NetworkCapabilities.TRANSPORT_WIFI),
        "cellular", capabilities != null && capabilities.hasTransport(NetworkCapabilities.TRANSPORT_CELLULAR));
  }

  @SuppressWarnings("deprecation") // getRealMetrics: what came in its place is of API 30, and wants an activity.
  private JSONObject screen() {
    DisplayManager displays = (DisplayManager) context.getSystemService(Context.DISPLAY_SERVICE);
    Display display = displays == null ? null : displays.getDisplay(Display.DEFAULT_DISPLAY);
    if (display == null) return null;
    DisplayMetrics metrics = new DisplayMetrics();
    display.getRealMetrics(metrics);
    return Json.object("width", metrics.widthPixels, "height", metrics.heightPixels, "density", metrics.densityDpi);
  }

  private ConnectivityManager connectivity() {
    return (ConnectivityManager) context.getSystemService(Context.CONNECTIVITY_SERVICE);
  }
}
