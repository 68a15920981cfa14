package org.millrace.cordova;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.util.ArrayList;
import java.util.List;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.annotation.Config;

/** The next process on the files of one that was killed: everything that was stored arrives, in order, once. */
@RunWith(RobolectricTestRunner.class)
@Config(sdk = 35)
public final class AfterKill {
  @Test
  public void whatWasStoredArrivesInOrderAndOnce() throws Exception {
    int stored = Integer.getInteger("stored");
    try (Device device = new Device(new File(System.getProperty("folder")))) {
      int queued = device.open("flushQueueSize", 100).getInt("queued");
      assertTrue(queued + " of at least " + stored, queued >= stored);
      assertEquals(queued, device.drain(false).getInt("sent"));
      List<String> arrived = new ArrayList<>();
      for (DataPlane.Batch batch : device.server.takeBatches()) arrived.addAll(batch.events);
      List<String> expected = new ArrayList<>();
      for (int at = 1; at <= queued; at++) expected.add("e" + at);
      assertEquals(expected, arrived);
    }
  }
}
