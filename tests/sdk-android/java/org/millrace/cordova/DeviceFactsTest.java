package org.millrace.cordova;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import android.app.Application;
import android.content.Context;
import android.content.pm.PackageInfo;
import android.content.res.Configuration;
import android.net.ConnectivityManager;
import android.net.NetworkCapabilities;
import android.os.Build;
import android.provider.Settings;
import com.google.android.gms.ads.identifier.AdvertisingIdClient;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import org.json.JSONObject;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.Shadows;
import org.robolectric.annotation.Config;
import org.robolectric.shadows.ShadowBuild;
import org.robolectric.shadows.ShadowNetworkCapabilities;

/** Facts as Android gives them: contracts/cordova-sdk.md §9, §13. */
@RunWith(RobolectricTestRunner.class)
@Config(sdk = 35, qualifiers = "de-rDE-w411dp-h914dp-420dpi")
public final class DeviceFactsTest {
  private final Application application = RuntimeEnvironment.getApplication();
  private final DeviceFacts facts = new DeviceFacts(application, "15.1.0");

  @Test
  public void appDeviceAndSystemAreThoseOfTheContract() throws Exception {
    ShadowBuild.setManufacturer("Google");
    ShadowBuild.setModel("Pixel 8");
    ShadowBuild.setDevice("shiba");
    PackageInfo info = application.getPackageManager().getPackageInfo(application.getPackageName(), 0);
    info.versionName = "3.2.0";
    info.setLongVersionCode(320);
    info.applicationInfo.nonLocalizedLabel = "Shop";
    Shadows.shadowOf(application.getPackageManager()).installPackage(info);
    application.getApplicationInfo().nonLocalizedLabel = "Shop";

    JSONObject context = facts.lastingContext(false);
    JSONObject app = context.getJSONObject("app");
    assertEquals("Shop", app.getString("name"));
    assertEquals("3.2.0", app.getString("version"));
    assertEquals(320, app.get("build"));
    assertEquals(application.getPackageName(), app.getString("namespace"));
    String device = "{\"manufacturer\":\"Google\",\"model\":\"Pixel 8\",\"name\":\"shiba\",\"type\":\"Android\"}";
    assertEquals(device, context.getJSONObject("device").toString());
    assertEquals("{\"name\":\"Android\",\"version\":\"" + Build.VERSION.RELEASE + "\"}", context.getJSONObject("os").toString());
  }

  @Test
  public void theIdOfTheDeviceIsThereOnlyWhenAskedFor() throws Exception {
    Settings.Secure.putString(application.getContentResolver(), Settings.Secure.ANDROID_ID, "a1b2");
    assertFalse(facts.lastingContext(false).toString().contains("a1b2"));
    assertEquals("a1b2", facts.lastingContext(true).getJSONObject("device").getString("id"));
  }

  @Test
  public void localeScreenAndNetworkAreThoseOfTheMoment() throws Exception {
    JSONObject context = facts.changingContext();
    assertEquals(Locale.getDefault().toLanguageTag(), context.getString("locale"));
    assertEquals(420, context.getJSONObject("screen").getInt("density"));
    assertEquals(Math.round(411 * 420 / 160f), context.getJSONObject("screen").getInt("width"), 2);

    use(NetworkCapabilities.TRANSPORT_WIFI);
    assertEquals("{\"wifi\":true,\"cellular\":false}", facts.changingContext().get("network").toString());
    use(NetworkCapabilities.TRANSPORT_CELLULAR);
    assertEquals("{\"wifi\":false,\"cellular\":true}", facts.changingContext().get("network").toString());
    assertTrue(facts.isOnline());
    Shadows.shadowOf(connectivity()).setDefaultNetworkActive(false);
    Shadows.shadowOf(connectivity()).setActiveNetworkInfo(null);
    assertFalse(facts.isOnline());
    assertEquals("{\"wifi\":false,\"cellular\":false}", facts.changingContext().get("network").toString());
  }

  @Test
  public void aTurnOfTheScreenAndAnotherNetworkAreTold() {
    AtomicInteger told = new AtomicInteger();
    facts.watch(told::incrementAndGet);
    application.onConfigurationChanged(new Configuration());
    assertEquals(1, told.get());

    NetworkCapabilities wifi = ShadowNetworkCapabilities.newInstance();
    Shadows.shadowOf(wifi).addTransportType(NetworkCapabilities.TRANSPORT_WIFI);
    for (ConnectivityManager.NetworkCallback callback : Shadows.shadowOf(connectivity()).getNetworkCallbacks()) {
      callback.onCapabilitiesChanged(connectivity().getActiveNetwork(), wifi);
      callback.onCapabilitiesChanged(connectivity().getActiveNetwork(), wifi);
    }
    assertEquals("the same again is no news", 2, told.get());
    for (ConnectivityManager.NetworkCallback callback : Shadows.shadowOf(connectivity()).getNetworkCallbacks()) {
      callback.onLost(connectivity().getActiveNetwork());
    }
    assertEquals(3, told.get());
  }

  @Test
  public void theAdvertisingIdIsReadOnceAndLimitedOrZeroIsNone() {
    Object[][] cases = {
      {new AdvertisingIdClient.Info("cdda802e", false), "{\"id\":\"cdda802e\",\"enabled\":true}"},
      {new AdvertisingIdClient.Info("cdda802e", true), "{\"enabled\":false}"},
      {new AdvertisingIdClient.Info("00000000-0000-0000-0000-000000000000", false), "{\"enabled\":true}"},
      {new AdvertisingIdClient.Info(null, false), "{\"enabled\":true}"},
      {null, "{}"},
    };
    for (Object[] each : cases) {
      AdvertisingIdClient.answer = (AdvertisingIdClient.Info) each[0];
      AdvertisingIdClient.calls = 0;
      DeviceFacts own = new DeviceFacts(application, null);
      assertEquals(each[1], own.advertisingId().toString());
      assertEquals(each[1], own.advertisingId().toString());
      assertEquals(1, AdvertisingIdClient.calls);
    }
  }

  private void use(int transport) {
    NetworkCapabilities capabilities = ShadowNetworkCapabilities.newInstance();
    Shadows.shadowOf(capabilities).addTransportType(transport);
    Shadows.shadowOf(connectivity()).setNetworkCapabilities(connectivity().getActiveNetwork(), capabilities);
  }

  private ConnectivityManager connectivity() {
    return (ConnectivityManager) application.getSystemService(Context.CONNECTIVITY_SERVICE);
  }
}
