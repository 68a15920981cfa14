package org.millrace.cordova;

import java.io.File;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.annotation.Config;

/** Stores one event after the other and says so, until this process is killed. */
@RunWith(RobolectricTestRunner.class)
@Config(sdk = 35)
public final class KilledProcess {
  private static final int WITHOUT_A_KILL = 100_000;

  @Test
  public void stores() throws Exception {
    try (Device device = new Device(new File(System.getProperty("folder")))) {
      device.open("dbThresholdCount", WITHOUT_A_KILL);
      for (int at = 1; at <= WITHOUT_A_KILL; at++) {
        device.push("e" + at);
        System.out.println("\nSTORED\t" + at);
      }
    }
  }
}
