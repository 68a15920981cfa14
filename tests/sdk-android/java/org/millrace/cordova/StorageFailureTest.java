package org.millrace.cordova;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import android.database.Cursor;
import android.database.sqlite.SQLiteDatabase;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.json.JSONArray;
import org.json.JSONObject;
import org.junit.After;
import org.junit.Before;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.annotation.Config;

/** Failures that SQLite itself brings forth, where the scenarios script them: contracts/cordova-sdk.md §21. */
@RunWith(RobolectricTestRunner.class)
@Config(sdk = 35)
public final class StorageFailureTest {
  private Device device;

  @Before
  public void start() throws Exception {
    device = new Device();
  }

  @After
  public void end() throws Exception {
    device.close();
  }

  @Test
  public void aFileThatCannotBeOpenedMeansMemory() throws Exception {
    assertTrue(device.database.mkdirs());
    JSONObject opened = device.open();
    assertEquals("memory", opened.getString("storage"));
    assertEquals("STORAGE_OPEN", Device.errorCode(opened));
    assertTrue(device.push("A").getBoolean("inMemory"));
    assertEquals(1, device.drain(false).getInt("sent"));
  }

  @Test
  public void aFolderThatCannotBeMadeMeansMemory() throws Exception {
    Files.write(device.folder.toPath(), "in the way".getBytes(StandardCharsets.UTF_8));
    assertEquals("memory", device.open().getString("storage"));
    // Neither guard nor database: the opt-out ends with the process, and its caller hears so.
    assertTrue(device.putState("tracking", "disabled").getBoolean("inMemory"));
    assertEquals("OPTED_OUT", device.drain(true).getString("outcome"));
  }

  @Test
  public void aDatabaseThatTurnsReadOnlyMeansMemoryAndItsRowsAreSentOnce() throws Exception {
    device.open();
    device.push("A");
    pragma("query_only=1");
    JSONObject pushed = device.push("B");
    assertTrue(pushed.getBoolean("inMemory"));
    assertEquals("STORAGE_READONLY", Device.errorCode(pushed));
    assertEquals(2, device.drain(false).getInt("sent"));
    JSONObject again = device.drain(true);
    assertEquals("EMPTY", again.getString("outcome"));
    assertEquals(0, again.getInt("remaining"));
    assertEquals(1, device.server.takeBatches().size());
  }

  @Test
  public void aFullDatabaseLosesItsOldestTenthAndGoesOn() throws Exception {
    device.open();
    for (int at = 0; at < 20; at++) pushBig("e" + at);
    pragma("max_page_count=" + pragma("page_count"));
    JSONObject pushed = pushBig("A");
    assertFalse(pushed.getBoolean("inMemory"));
    assertEquals("STORAGE_FULL", Device.errorCode(pushed));
    assertEquals(19, pushed.getInt("queued"));
    assertEquals(2, pushed.getJSONObject("report").getJSONObject("dropped").getInt("trimmed"));
    assertEquals("e2", device.rows().get(0));
    assertEquals(1, device.lines("STORAGE_FULL the 2 oldest events were deleted").size());
  }

  @Test
  public void aDatabaseThatStaysFullMeansMemory() throws Exception {
    device.open();
    pushBig("A");
    pragma("max_page_count=" + pragma("page_count"));
    JSONObject pushed = pushBig("B");
    assertTrue(pushed.getBoolean("inMemory"));
    assertEquals(2, device.drain(false).getInt("sent"));
  }

  @Test
  public void aDatabaseThatSomebodyElseHoldsCostsOneTransactionItsPlaceOnDisk() throws Exception {
    device.open();
    pragma("busy_timeout=20");
    try (SQLiteDatabase other = SQLiteDatabase.openDatabase(device.database.getPath(), null, SQLiteDatabase.OPEN_READWRITE)) {
      other.beginTransaction();
      JSONObject pushed = device.push("A");
      assertTrue(pushed.getBoolean("inMemory"));
      assertEquals("STORAGE_BUSY", Device.errorCode(pushed));
      other.endTransaction();
    }
    assertFalse(device.push("B").getBoolean("inMemory"));
    assertEquals(Arrays.asList("B", "A"), device.rows());
  }

  @Test
  public void stateThatWasHeldInMemoryIsWrittenWithTheNextTransaction() throws Exception {
    device.open();
    device.faults.set("busy");
    device.putState("userId", "u-1");
    device.faults.set("");
    device.push("A");
    device.kill();
    assertEquals("u-1", device.open().getJSONObject("state").getString("userId"));
  }

  @Test
  public void pagesDamagedInTheMiddleAreNoticedAndTheFileIsSetAside() throws Exception {
    device.open();
    device.putState("anonymousId", "a-1");
    for (int at = 0; at < 40; at++) pushBig("e" + at);
    device.kill();
    try (RandomAccessFile file = new RandomAccessFile(device.database, "rw")) {
      byte[] garbage = new byte[(int) file.length() - 4096];
      Arrays.fill(garbage, (byte) 0x5a);
      file.seek(4096);
      file.write(garbage);
    }
    JSONObject opened = device.open();
    assertEquals("sqlite", opened.getString("storage"));
    assertEquals("STORAGE_CORRUPT", Device.errorCode(opened));
    assertEquals("a-1", opened.getJSONObject("state").getString("anonymousId"));
    assertTrue(new File(device.folder, "events.corrupt").exists());
    assertFalse(device.push("A").getBoolean("inMemory"));
    assertEquals(1, device.drain(false).getInt("sent"));
  }

  @Test
  public void aTableThatGoesMissingWhileRunningIsMadeAgain() throws Exception {
    device.open();
    device.push("A");
    onDatabase("DROP TABLE events");
    JSONObject pushed = device.push("B");
    assertFalse(pushed.getBoolean("inMemory"));
    assertEquals("STORAGE_CORRUPT", Device.errorCode(pushed));
    assertEquals(1, pushed.getInt("queued"));
  }

  @Test
  public void aFileOfALaterVersionIsSetAsideAndPurgeDeletesIt() throws Exception {
    device.open();
    pragma("user_version=2");
    device.kill();
    assertEquals("STORAGE_NEWER", Device.errorCode(device.open()));
    assertTrue(new File(device.folder, "events.newer").exists());
    device.act("purge", "events");
    assertFalse(new File(device.folder, "events.newer").exists());
  }

  @Test
  public void aGuardThatCannotBeWrittenIsToldAndTheDatabaseCounts() throws Exception {
    assertTrue(device.guard.mkdirs());
    assertTrue(new File(device.guard, "in-the-way").createNewFile());
    device.open();
    device.putState("tracking", "disabled");
    JSONObject pushed = device.push();
    assertEquals("STORAGE_IO", Device.errorCode(pushed));
    device.kill();
    assertEquals("disabled", device.open().getString("tracking"));
  }

  @Test
  public void aGuardThatCouldNotBeWrittenIsWrittenWithTheSameChoiceMadeAgain() throws Exception {
    device.open();
    device.putState("tracking", "enabled");
    File temporary = new File(device.folder, "guard.json.new");
    assertTrue(temporary.mkdirs());
    device.faults.set("full");
    device.putState("tracking", "disabled");
    assertTrue(temporary.delete());
    // The user sees that nothing has changed, and opts out once more.
    device.putState("tracking", "disabled");
    device.kill();
    device.faults.set("");
    assertEquals("disabled", device.open().getString("tracking"));
  }

  @Test
  public void aGuardThatCannotBeReadMayHoldAnOptOutSoNothingIsSentAndNothingIsWrittenOverIt() throws Exception {
    device.open();
    device.putState("marker", "{\"version\":\"1\"}");
    device.putState("tracking", "disabled");
    device.kill();
    // What is left of the choice is in the guard.
    SQLiteDatabase.deleteDatabase(device.database);
    String before = textOf(device.guard);
    device.closeGuard();
    JSONObject opened = device.open();
    assertEquals("awaiting-consent", opened.getString("tracking"));
    assertFalse(opened.has("state"));
    assertEquals("STORAGE_OPEN", Device.errorCode(opened));
    // As the app that runs: neither an installation nor an update may be told of it.
    assertEquals("{\"version\":\"3.2.0\",\"build\":320}", opened.getJSONObject("launch").getString("marker"));
    device.push("A");
    assertEquals("AWAITING_CONSENT", device.drain(true).getString("outcome"));
    assertEquals(0, device.act("config", new JSONObject()).getInt("status"));
    device.openGuard();
    device.engine().changed();
    assertEquals("disabled", device.awaitSignal("changed").getJSONObject("state").getString("tracking"));
    assertEquals("OPTED_OUT", device.drain(true).getString("outcome"));
    assertEquals("{\"version\":\"1\"}", device.open().getJSONObject("launch").getString("marker"));
    assertEquals(before, textOf(device.guard));
    assertEquals(0, device.server.takeBatches().size());
  }

  @Test
  public void aChoiceMadeWhileTheGuardCannotBeReadHoldsAtOnceAndJoinsItOnceItCanBeRead() throws Exception {
    device.open();
    device.putState("anonymousId", "a-1");
    device.kill();
    device.closeGuard();
    device.putState("tracking", "enabled");
    assertEquals("enabled", device.open().getString("tracking"));
    device.putState("tracking", "disabled");
    assertEquals("disabled", device.open().getString("tracking"));
    device.openGuard();
    assertEquals("OPTED_OUT", device.drain(true).getString("outcome"));
    JSONObject guard = new JSONObject(textOf(device.guard));
    assertEquals("disabled", guard.getString("tracking"));
    assertEquals("a-1", guard.getString("anonymousId"));
  }

  @Test
  public void theGuardIsReadAgainWithEveryCallAndSignalAndTheDatabaseWithIt() throws Exception {
    device.open();
    device.putState("userId", "u-1");
    device.push("A");
    for (String next : new String[] {"call", "start", "network"}) {
      device.kill();
      device.closeGuard();
      device.faults.set("open");
      assertEquals("awaiting-consent", device.open().getString("tracking"));
      device.openGuard();
      device.faults.set("");
      if (next.equals("call")) device.act("tail", null);
      if (next.equals("start")) device.engine().entered(null);
      if (next.equals("network")) device.engine().changed();
      assertEquals("enabled", device.awaitSignal("changed").getJSONObject("state").getString("tracking"));
      JSONObject opened = device.open();
      assertEquals("sqlite", opened.getString("storage"));
      assertEquals("u-1", opened.getJSONObject("state").getString("userId"));
      assertEquals(1, opened.getInt("queued"));
    }
  }

  @Test
  public void aDamagedGuardIsNoObstacle() throws Exception {
    assertTrue(device.folder.mkdirs());
    for (String text : new String[] {"", "{", "[]", "{\"tracking\":5}", "null"}) {
      Files.write(device.guard.toPath(), text.getBytes(StandardCharsets.UTF_8));
      assertEquals("enabled", device.open().getString("tracking"));
      device.kill();
    }
  }

  @Test
  public void theMarkerIsInTheGuardOnlyOnceItsEventIsStoredAndAnOptOutBeforeAllElse() throws Exception {
    device.open();
    List<String> guardAtCommit = new ArrayList<>();
    device.faults.atCommit = () -> guardAtCommit.add(textOf(device.guard));
    JSONArray rows = new JSONArray().put(new JSONObject().put("body", Device.body("Application Installed")));
    device.act("push", new JSONObject().put("rows", rows).put("state", new JSONObject().put("marker", "{}")));
    device.putState("tracking", "disabled");
    assertEquals(Arrays.asList("", "{\"marker\":\"{}\",\"tracking\":\"disabled\"}"), guardAtCommit);
  }

  private static String textOf(File file) {
    try {
      return file.exists() ? new String(Files.readAllBytes(file.toPath()), StandardCharsets.UTF_8) : "";
    } catch (IOException failure) {
      throw new AssertionError(failure);
    }
  }

  @Test
  public void aFailureIsToldInOneLinePerKindAndRun() throws Exception {
    device.open();
    device.faults.set("busy");
    device.push("A");
    device.push("B");
    assertEquals(1, device.lines("STORAGE_BUSY").size());
  }

  @Test
  public void purgeLeavesNothingOnTheDiskAlsoWhereTheDatabaseDoesNotAllowIt() throws Exception {
    for (String pragma : new String[] {"query_only=0", "query_only=1"}) {
      device.open();
      device.putState("userId", "u-1");
      device.push("SecretEvent");
      pragma(pragma);
      device.act("purge", "events");
      assertEquals(0, device.push().getInt("queued"));
      for (File file : device.folder.listFiles()) {
        String bytes = new String(Files.readAllBytes(file.toPath()), StandardCharsets.ISO_8859_1);
        assertFalse(file.getName(), bytes.contains("SecretEvent"));
      }
      device.kill();
      JSONObject opened = device.open();
      assertEquals("u-1", opened.getJSONObject("state").getString("userId"));
      device.kill();
    }
  }

  @Test
  public void theDatabaseIsSetUpAsTheContractSays() throws Exception {
    device.open();
    assertEquals("wal", pragma("journal_mode"));
    assertEquals("1", pragma("synchronous"));
    assertEquals("1", pragma("secure_delete"));
    assertEquals("3000", pragma("busy_timeout"));
    assertEquals("1", pragma("user_version"));
  }

  @Test
  public void fiveHundredEventsInOnePushAreOneTransaction() throws Exception {
    device.open();
    JSONArray rows = new JSONArray();
    for (int at = 0; at < 500; at++) rows.put(new JSONObject().put("body", Device.body("e" + at)));
    int before = device.faults.commits();
    device.act("push", new JSONObject().put("rows", rows).put("state", new JSONObject().put("userId", "u-1")));
    assertEquals(1, device.faults.commits() - before);
  }

  @Test
  public void noOtherThreadThanTheWorkerTouchesStorage() throws Exception {
    device.open();
    Engine engine = device.engine();
    assertThrows(IllegalStateException.class, () -> engine.store.count());
    assertThrows(IllegalStateException.class, () -> engine.store.commit(new Change()));
    assertThrows(IllegalStateException.class, () -> new GuardFile(device.folder, engine.worker).get("tracking"));
  }

  @Test
  public void badArgumentsAreRefusedAndHarmNothing() throws Exception {
    Object[][] calls = {
      {"open", new JSONObject()}, {"open", 7}, {"push", null}, {"push", new JSONObject().put("rows", "x")},
      {"state", new JSONObject().put("userId", 5)}, {"drain", new JSONObject()}, {"purge", "nothing"}, {"purge", null}, {"tail", 5},
    };
    device.open();
    for (Object[] call : calls) assertEquals(call[0] + " " + call[1], call[0].equals("tail") ? null : "BAD_ARGUMENT", refusal(call));
    assertEquals("UNKNOWN_ACTION", refusal(new Object[] {"explode", null}));
    assertFalse(device.push("A").getBoolean("inMemory"));
    device.kill();
    assertEquals("NOT_OPEN", refusal(new Object[] {"push", new JSONObject().put("rows", new JSONArray()).put("state", new JSONObject())}));
    assertEquals("NOT_OPEN", refusal(new Object[] {"drain", new JSONObject().put("force", true)}));
    assertEquals("NOT_OPEN", refusal(new Object[] {"config", new JSONObject()}));
  }

  private String refusal(Object[] call) throws Exception {
    try {
      device.act((String) call[0], call[1]);
      return null;
    } catch (ExecutionException refused) {
      return ((Device.Refused) refused.getCause()).code;
    }
  }

  /** With a body that needs pages of its own. */
  private JSONObject pushBig(String event) throws Exception {
    String plain = Device.body(event);
    String body = plain.substring(0, plain.length() - 1) + ",\"properties\":{\"pad\":\"" + "x".repeat(20_000) + "\"}}";
    JSONArray rows = new JSONArray().put(new JSONObject().put("body", body));
    return device.act("push", new JSONObject().put("rows", rows).put("state", new JSONObject()));
  }

  private String pragma(String pragma) throws Exception {
    Engine engine = device.engine();
    return engine.worker.call(
        () -> {
          try (Cursor answer = engine.store.database.getWritableDatabase().rawQuery("PRAGMA " + pragma, null)) {
            return answer.moveToFirst() ? answer.getString(0) : null;
          }
        });
  }

  private void onDatabase(String statement) throws Exception {
    Engine engine = device.engine();
    engine.worker.call(
        () -> {
          engine.store.database.getWritableDatabase().execSQL(statement);
          return null;
        });
  }
}
