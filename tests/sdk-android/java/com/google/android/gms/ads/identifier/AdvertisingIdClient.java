package com.google.android.gms.ads.identifier;

import android.content.Context;

/** Stands where an app has Google's class: what the SDK finds by its name. */
public final class AdvertisingIdClient {
  public static volatile Info answer;
  public static volatile int calls;

  private AdvertisingIdClient() {}

  public static Info getAdvertisingIdInfo(Context context) {
    calls++;
    if (answer == null) throw new IllegalStateException("no Play services");
    return answer;
  }

  public static final class Info {
    private final String id;
    private final boolean isLimited;

    public Info(String id, boolean isLimited) {
      this.id = id;
      this.isLimited = isLimited;
    }

    public String getId() {
      return id;
    }

    public boolean isLimitAdTrackingEnabled() {
      return isLimited;
    }
  }
}
