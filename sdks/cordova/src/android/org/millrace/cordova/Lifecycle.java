package org.millrace.cordova;

import android.app.Activity;
import android.app.Application;
import android.os.Bundle;
import android.os.Handler;
import android.os.Looper;
import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;

/**
 * Whether the app is in front: it is while an activity is started, each counted once however often it is told of. Cordova's
 * pause and resume play no part, because they also come for dialogs. Main thread, but for what may be asked.
 *
 * @see "contracts/cordova-sdk.md §10"
 */
final class Lifecycle implements Application.ActivityLifecycleCallbacks {
  private final Handler main = new Handler(Looper.getMainLooper());
  private final Set<Activity> started = Collections.newSetFromMap(new WeakHashMap<Activity, Boolean>());
  private volatile boolean isForeground;
  private volatile String url;
  private Listener listener;

  interface Listener {
    /** @param url the link that brought the app to the foreground, or null */
    void entered(String url);

    void left();
  }

  void setListener(Listener listener) {
    this.listener = listener;
  }

  boolean isForeground() {
    return isForeground;
  }

  /** The link that opened the app this time, or null. Any thread. */
  String url() {
    return url;
  }

  /** An activity was launched, or called again, with this link. */
  void opened(String url) {
    this.url = url;
  }

  @Override
  public void onActivityStarted(Activity activity) {
    started.add(activity);
    if (isForeground) return;
    isForeground = true;
    // After this turn: Android tells of a new intent in the same turn, before or after the start.
    main.post(() -> listener.entered(url));
  }

  @Override
  public void onActivityStopped(Activity activity) {
    if (!started.remove(activity) || !started.isEmpty() || activity.isChangingConfigurations()) return;
    isForeground = false;
    url = null;
    main.post(listener::left);
  }

  @Override
  public void onActivityCreated(Activity activity, Bundle state) {}

  @Override
  public void onActivityResumed(Activity activity) {}

  @Override
  public void onActivityPaused(Activity activity) {}

  @Override
  public void onActivitySaveInstanceState(Activity activity, Bundle state) {}

  @Override
  public void onActivityDestroyed(Activity activity) {}
}
