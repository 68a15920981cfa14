package org.millrace.cordova;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import android.app.job.JobInfo;
import android.app.job.JobScheduler;
import android.content.Context;
import java.util.Arrays;
import java.util.Collections;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.json.JSONObject;
import org.junit.After;
import org.junit.Before;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.millrace.cordova.broken.Handler;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.annotation.Config;
import org.robolectric.shadows.ShadowLog;

/** What is left behind for Android to run, and what that does in a process without a page: contracts/cordova-sdk.md §16. */
@RunWith(RobolectricTestRunner.class)
@Config(sdk = 35)
public final class DrainJobTest {
  private Device device;
  private Engine background;

  @Before
  public void start() throws Exception {
    device = new Device();
  }

  @After
  public void end() throws Exception {
    if (background != null) background.close();
    device.close();
  }

  @Test
  public void leavingSchedulesTheJobAndAnEmptyQueueTakesItBack() throws Exception {
    device.open();
    device.push("A");
    device.leave(true);
    assertEquals(Arrays.asList("schedule", "cancel"), device.jobs);
  }

  @Test
  public void rowsThatTheServerDoesNotTakeYetLeaveTheJobScheduled() throws Exception {
    device.open();
    device.push("A");
    device.server.script(new JSONObject("{\"always\": {\"status\": 503}}"));
    device.leave(true);
    assertEquals(Collections.singletonList("schedule"), device.jobs);
  }

  @Test
  public void whereNothingMayBeSentNoJobIsScheduled() throws Exception {
    device.open();
    device.push("A");
    device.server.script(new JSONObject("{\"answers\": [{\"status\": 401}]}"));
    device.drain(false);
    device.leave(true);
    assertFalse(device.jobs.contains("schedule"));

    device.enter();
    device.putState("source", "{\"enabled\":true}");
    device.putState("tracking", "disabled");
    device.leave(true);
    assertFalse(device.jobs.contains("schedule"));
  }

  @Test
  public void optOutTakesTheJobBack() throws Exception {
    device.open();
    device.putState("tracking", "disabled");
    assertEquals(Collections.singletonList("cancel"), device.jobs);
  }

  @Test
  public void withoutAPageTheJobSendsWithTheStoredSettings() throws Exception {
    device.open("writeKey", "wk-9");
    device.push("A", "B");
    device.kill();
    assertFalse(runJob());
    DataPlane.Batch batch = device.server.takeBatches().get(0);
    assertEquals(Arrays.asList("A", "B"), batch.events);
    assertEquals("wk-9", batch.writeKey);
    assertEquals(Collections.emptyList(), device.server.mistakes());
  }

  @Test
  public void theJobAsksToComeAgainOnlyWhenThatMayHelp() throws Exception {
    device.open();
    device.push("A");
    device.kill();
    device.server.script(new JSONObject("{\"answers\": [{\"status\": 503}]}"));
    assertTrue(runJob());
    background.close();
    device.server.script(new JSONObject("{\"answers\": [{\"status\": 401}]}"));
    assertFalse(runJob());
    background.close();
    assertFalse(runJob());
    background.close();
    assertFalse("nothing is left", runJob());
  }

  @Test
  public void anOptOutInTheGuardAloneKeepsTheJobFromOpeningTheStore() throws Exception {
    device.open();
    device.push("A");
    device.putState("tracking", "disabled");
    device.kill();
    int openings = device.faults.openings();
    assertFalse(runJob());
    assertEquals(0, device.server.takeBatches().size());
    assertEquals(openings, device.faults.openings());
  }

  @Test
  public void aGuardThatCannotBeReadKeepsTheJobFromSending() throws Exception {
    device.open();
    device.push("A");
    device.kill();
    device.closeGuard();
    assertFalse(runJob());
    assertEquals(0, device.server.takeBatches().size());
  }

  @Test
  public void withoutConsentTheJobSendsNothingThatAnEarlierRunLeft() throws Exception {
    device.open();
    device.push("A");
    device.kill();
    device.open("requireConsent", true);
    assertTrue(device.jobs.contains("cancel"));
    device.kill();
    assertFalse(runJob());
    assertEquals(0, device.server.takeBatches().size());
  }

  @Test
  public void theJobLogsToAndroidAsFarAsTheStoredLevelAllows() throws Exception {
    for (int level : new int[] {0, 4}) {
      device.open("logLevel", level);
      device.push("A");
      device.kill();
      ShadowLog.clear();
      runJob();
      assertEquals(level == 4 ? 1 : 0, ShadowLog.getLogsForTag("ServiceClient").size());
      background.close();
      background = null;
    }
  }

  @Test
  public void beforeTheFirstOpenThereIsNothingToSendAndNothingBreaks() throws Exception {
    assertFalse(runJob());
    device.leave(false);
  }

  @Test
  public void damagedSettingsEndTheJob() throws Exception {
    device.open();
    device.push("A");
    device.putState("settings", "{\"writeKey\":");
    device.kill();
    assertFalse(runJob());
  }

  @Test
  public void anErrorOfTheHttpStackEndsTheJob() throws Exception {
    Handler.install();
    device.open("dataPlaneUrl", "broken://headers");
    device.push("A");
    device.kill();
    assertFalse(runJob());
  }

  @Test
  public void theJobIsTheOneOfTheContract() throws Exception {
    Context context = device.context;
    JobScheduler scheduler = (JobScheduler) context.getSystemService(Context.JOB_SCHEDULER_SERVICE);
    DrainJobService.Schedule schedule = new DrainJobService.Schedule(context);
    schedule.schedule();
    JobInfo job = scheduler.getPendingJob(1296847443);
    assertEquals(JobInfo.NETWORK_TYPE_ANY, job.getNetworkType());
    assertEquals(30_000, job.getInitialBackoffMillis());
    assertEquals(JobInfo.BACKOFF_POLICY_EXPONENTIAL, job.getBackoffPolicy());
    assertFalse(job.isPersisted());
    assertEquals("org.millrace.cordova.DrainJobService", job.getService().getClassName());
    schedule.cancel();
    assertEquals(0, scheduler.getAllPendingJobs().size());
  }

  private boolean runJob() throws Exception {
    Lifecycle hidden = new Lifecycle();
    background = device.newEngine(hidden);
    CompletableFuture<Boolean> again = new CompletableFuture<>();
    background.drainForJob(again::complete);
    return again.get(30, TimeUnit.SECONDS);
  }
}
