package org.millrace.cordova;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import android.app.Activity;
import android.app.Application;
import android.os.Looper;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.Before;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.Robolectric;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.Shadows;
import org.robolectric.android.controller.ActivityController;
import org.robolectric.annotation.Config;

/** Real activities of Android, as they start, stop, turn and come back: contracts/cordova-sdk.md §10. */
@RunWith(RobolectricTestRunner.class)
@Config(sdk = 35)
public final class LifecycleTest {
  private final Lifecycle lifecycle = new Lifecycle();
  private final List<String> heard = new ArrayList<>();

  @Before
  public void start() {
    Application application = RuntimeEnvironment.getApplication();
    lifecycle.setListener(
        new Lifecycle.Listener() {
          @Override
          public void entered(String url) {
            heard.add(url == null ? "start" : "start " + url);
          }

          @Override
          public void left() {
            heard.add("stop");
          }
        });
    application.registerActivityLifecycleCallbacks(lifecycle);
  }

  @Test
  public void startAndStopOfTheOnlyActivityAreThoseOfTheApp() {
    ActivityController<Activity> activity = activity().create().start().resume();
    assertHeard("start");
    assertTrue(lifecycle.isForeground());
    activity.pause().stop();
    assertHeard("stop");
    assertFalse(lifecycle.isForeground());
    activity.restart().resume();
    assertHeard("start");
  }

  @Test
  public void pauseAndResumeAloneAreNothing() {
    ActivityController<Activity> activity = activity().create().start().resume();
    assertHeard("start");
    activity.pause().resume().pause().resume();
    assertHeard();
  }

  @Test
  public void aSecondActivityOfTheAppIsNoLeaving() {
    ActivityController<Activity> first = activity().create().start().resume();
    ActivityController<Activity> second = activity().create();
    first.pause();
    second.start().resume();
    first.stop();
    assertHeard("start");
    second.pause().stop();
    assertHeard("stop");
  }

  @Test
  public void aTurnOfTheScreenIsNothing() {
    ActivityController<Activity> activity = activity().create().start().resume();
    assertHeard("start");
    activity.recreate();
    assertHeard();
    activity.pause().stop();
    assertHeard("stop");
  }

  @Test
  public void anActivityThatIsToldOfTwiceCountsOnce() {
    ActivityController<Activity> activity = activity().create().start();
    lifecycle.onActivityStarted(activity.get());
    assertHeard("start");
    activity.stop();
    assertHeard("stop");
    lifecycle.onActivityStopped(activity.get());
    assertHeard();
  }

  @Test
  public void theLinkOfALaunchBelongsToItsStartOnly() {
    lifecycle.opened("shop://cart");
    ActivityController<Activity> activity = activity().create().start().resume();
    assertHeard("start shop://cart");
    assertEquals("shop://cart", lifecycle.url());
    activity.pause().stop();
    assertHeard("stop");
    activity.restart();
    assertHeard("start");
    activity.stop();
    assertHeard("stop");
    // Android tells of a new intent before or after the start, in the same turn.
    activity.restart();
    lifecycle.opened("shop://offer");
    assertHeard("start shop://offer");
  }

  @Test
  public void whateverHappensStartsAndStopsTakeTurns() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    List<ActivityController<Activity>> activities = new ArrayList<>();
    for (int at = 0; at < 3; at++) activities.add(activity().create());
    boolean[] isStarted = new boolean[3];
    boolean[] wasStarted = new boolean[3];
    for (int step = 0; step < 300; step++) {
      int at = random.nextInt(3);
      if (isStarted[at]) activities.get(at).stop();
      else if (wasStarted[at]) activities.get(at).restart();
      else activities.get(at).start();
      wasStarted[at] = true;
      isStarted[at] = !isStarted[at];
      if (random.nextBoolean()) lifecycle.onActivityStarted(activities.get(0).get());
      if (!isStarted[0]) lifecycle.onActivityStopped(activities.get(0).get());
      idle();
    }
    for (int at = 0; at < heard.size(); at++) {
      assertEquals("seed " + seed, at % 2 == 0 ? "start" : "stop", heard.get(at));
    }
    assertTrue(heard.size() > 10);
  }

  private static ActivityController<Activity> activity() {
    return Robolectric.buildActivity(Activity.class);
  }

  private void assertHeard(String... expected) {
    idle();
    assertEquals(expected.length == 0 ? Collections.emptyList() : Arrays.asList(expected), heard);
    heard.clear();
  }

  private static void idle() {
    Shadows.shadowOf(Looper.getMainLooper()).idle();
  }
}
