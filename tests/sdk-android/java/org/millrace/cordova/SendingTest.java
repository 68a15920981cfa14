package org.millrace.cordova;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import android.database.sqlite.SQLiteDatabase;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.json.JSONArray;
import org.json.JSONObject;
import org.junit.After;
import org.junit.Before;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.millrace.cordova.broken.Handler;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.annotation.Config;

/** What scenarios cannot show of sending: hanging servers, aborts, what goes on meanwhile, and what the log tells. */
@RunWith(RobolectricTestRunner.class)
@Config(sdk = 35)
public final class SendingTest {
  private final CountDownLatch held = new CountDownLatch(1);
  private Device device;

  @Before
  public void start() throws Exception {
    device = new Device();
  }

  @After
  public void end() throws Exception {
    device.server.hold.release();
    held.countDown();
    device.close();
  }

  @Test
  public void aServerThatNeverEndsItsAnswerIsLeftAtTheDeadline() throws Exception {
    for (String answer : new String[] {"", "HTTP/1.1 ", "HTTP/1.1 200 OK\r\n"}) {
      try (Trickle server = new Trickle(answer, " ")) {
        Http.Answer got = new Http().send(server.url(), Collections.emptyMap(), new byte[] {'{', '}'}, 300, 4096);
        assertEquals(got.trouble, 0, got.status);
        assertFalse(got.trouble.isEmpty());
      }
    }
  }

  @Test
  public void ofAnAnswerWithoutEndFourKibibytesAreRead() throws Exception {
    try (Trickle server = new Trickle("HTTP/1.1 200 OK\r\n\r\n", "x".repeat(1000))) {
      Http.Answer got = new Http().send(server.url(), Collections.emptyMap(), new byte[] {'{', '}'}, 30_000, 4096);
      assertEquals(200, got.status);
      assertEquals(4096, got.body.length());
      assertTrue(got.isCut);
    }
  }

  @Test
  public void addressesThatCannotBeAskedAreNoAnswer() {
    for (String url : new String[] {"nonsense", "http://", "http://127.0.0.1:1/", "gopher://x/", "http://[::1/"}) {
      assertEquals(url, 0, new Http().send(url, Collections.emptyMap(), null, 5_000, 10).status);
    }
  }

  @Test
  public void callsOfTheAppDoNotWaitForARequest() throws Exception {
    device.open();
    device.push("A");
    device.server.hold.acquire();
    CompletableFuture<JSONObject> drained = beginDrain();
    device.server.awaitBatch();
    assertEquals(2, device.push("B").getInt("queued"));
    device.putState("userId", "u-1");
    assertFalse(drained.isDone());
    device.server.hold.release();
    assertEquals(2, drained.get(30, TimeUnit.SECONDS).getInt("sent"));
  }

  @Test
  public void optOutEndsTheRequestInProgressAndKeepsItsRows() throws Exception {
    device.open();
    device.push("A");
    device.server.hold.acquire();
    CompletableFuture<JSONObject> drained = beginDrain();
    device.server.awaitBatch();
    device.putState("tracking", "disabled");
    JSONObject ended = drained.get(30, TimeUnit.SECONDS);
    assertEquals("OPTED_OUT", ended.getString("outcome"));
    assertEquals(1, ended.getInt("remaining"));
    device.server.hold.release();
    device.server.takeBatches();

    assertEquals("OPTED_OUT", device.drain(true).getString("outcome"));
    assertEquals(0, device.act("config", new JSONObject()).getInt("status"));
    assertEquals(0, device.server.takeBatches().size());
    device.putState("tracking", "enabled");
    assertEquals(1, device.drain(true).getInt("sent"));
  }

  @Test
  public void aSourceThatIsDisabledDuringABatchGetsNoOtherPartOfIt() throws Exception {
    device.open();
    device.push("A", "B");
    device.server.script(new JSONObject().put("answers", new JSONArray().put(new JSONObject().put("status", 400))));
    device.server.hold.acquire();
    CompletableFuture<JSONObject> drained = beginDrain();
    device.server.awaitBatch();
    device.putState("source", "{\"enabled\":false}");
    device.server.hold.release();
    JSONObject ended = drained.get(30, TimeUnit.SECONDS);
    assertEquals("SOURCE_DISABLED", ended.getString("outcome"));
    assertEquals(2, ended.getInt("remaining"));
    assertEquals(1, device.server.takeBatches().size());
  }

  @Test
  public void aSourceConfigurationThatWaitsForItsTurnIsNotFetchedAfterAnOptOut() throws Exception {
    device.open();
    CountDownLatch isHeld = new CountDownLatch(1);
    device.atAdvertisingId =
        () -> {
          isHeld.countDown();
          await(held);
        };
    CompletableFuture<JSONObject> id = device.begin(device.engine(), "advertId", null);
    assertTrue(isHeld.await(30, TimeUnit.SECONDS));
    CompletableFuture<JSONObject> config = device.begin(device.engine(), "config", new JSONObject());
    device.putState("tracking", "disabled");
    held.countDown();
    id.get(30, TimeUnit.SECONDS);
    assertEquals(0, config.get(30, TimeUnit.SECONDS).getInt("status"));
    device.putState("tracking", "enabled");
    assertEquals(404, device.act("config", new JSONObject()).getInt("status"));
  }

  @Test
  public void drainsAskedForTogetherComeOneAfterTheOther() throws Exception {
    device.open("flushQueueSize", 1);
    device.push("A", "B", "C");
    List<CompletableFuture<JSONObject>> drains = new ArrayList<>();
    for (int at = 0; at < 5; at++) drains.add(beginDrain());
    int sent = 0;
    for (CompletableFuture<JSONObject> drain : drains) sent += drain.get(30, TimeUnit.SECONDS).getInt("sent");
    assertEquals(3, sent);
    assertEquals(3, device.server.takeBatches().size());
  }

  @Test
  public void ofDrainsWithoutNumberSomeAreAnsweredBusy() throws Exception {
    device.open();
    device.push("A");
    device.server.hold.acquire();
    List<CompletableFuture<JSONObject>> drains = new ArrayList<>();
    for (int at = 0; at < 101; at++) drains.add(beginDrain());
    assertEquals("BUSY", drains.get(100).get(30, TimeUnit.SECONDS).getString("outcome"));
    device.server.hold.release();
    assertEquals("EMPTY", drains.get(99).get(30, TimeUnit.SECONDS).getString("outcome"));
  }

  @Test
  public void anErrorOfTheHttpStackIsNoAnswerAndIsTriedAgain() throws Exception {
    Handler.install();
    device.open("dataPlaneUrl", "broken://opening");
    device.push("A");
    JSONObject drained = device.drain(true);
    assertEquals("RETRY_LATER", drained.getString("outcome"));
    assertEquals("no answer: java.lang.AssertionError: the TLS stack is broken", drained.getJSONObject("report").getJSONObject("lastError").getString("detail"));
    device.open();
    assertEquals(1, device.drain(true).getInt("sent"));
  }

  @Test
  public void anErrorThatNobodyExpectsEndsItsDrainOrCallAndTakesNoPlaceOfOthers() throws Exception {
    Handler.install();
    device.open("dataPlaneUrl", "broken://headers", "controlPlaneUrl", "broken://headers");
    device.push("A");
    // More than may wait at once.
    for (int at = 0; at < 102; at++) assertEquals("INTERNAL", refusal(beginDrain()));
    assertEquals("INTERNAL", refusal(device.begin(device.engine(), "config", new JSONObject())));
    assertFalse(device.lines("Internal error: java.lang.NoClassDefFoundError").isEmpty());
    device.open();
    assertEquals(1, device.drain(true).getInt("sent"));
  }

  private static String refusal(CompletableFuture<JSONObject> call) {
    ExecutionException why = assertThrows(ExecutionException.class, () -> call.get(30, TimeUnit.SECONDS));
    return ((Device.Refused) why.getCause()).code;
  }

  @Test
  public void rowsOfADatabaseThatWasSetAsideDeleteNothingOfTheNewOne() throws Exception {
    device.open();
    device.push("A");
    device.server.hold.acquire();
    CompletableFuture<JSONObject> drained = beginDrain();
    device.server.awaitBatch();
    Engine engine = device.engine();
    engine.worker.call(
        () -> {
          engine.store.database.getWritableDatabase().execSQL("PRAGMA query_only=1");
          return null;
        });
    // The file cannot be written, so that purge makes another, in which ids begin at 1 again.
    device.act("purge", "events");
    device.push("B");
    device.server.script(new JSONObject().put("always", new JSONObject().put("status", 503)));
    device.server.hold.release();
    drained.get(30, TimeUnit.SECONDS);
    assertEquals(Collections.singletonList("B"), device.rows());
  }

  @Test
  public void beyondTenThousandWaitingCallsOneIsToldQueueFullAndNoSignalOfAndroidAndNoOptOutIsRefused() throws Exception {
    device.open();
    Engine engine = device.engine();
    CountDownLatch isHeld = new CountDownLatch(1);
    engine.worker.post(
        () -> {
          isHeld.countDown();
          await(held);
        });
    assertTrue(isHeld.await(30, TimeUnit.SECONDS));
    List<CompletableFuture<JSONObject>> calls = new ArrayList<>();
    while (device.lines("QUEUE_FULL").isEmpty() && calls.size() <= 10_001) calls.add(device.begin(engine, "tail", null));
    CompletableFuture<JSONObject> refused = calls.remove(calls.size() - 1);
    ExecutionException why = assertThrows(ExecutionException.class, refused::get);
    assertEquals("QUEUE_FULL", ((Device.Refused) why.getCause()).code);
    CompletableFuture<JSONObject> optOut =
        device.begin(engine, "state", new JSONObject().put("tracking", "disabled"));
    // Asked for by the main thread of the app, in which nothing may be thrown.
    engine.entered(null);
    engine.changed();
    engine.left();
    held.countDown();
    assertEquals(10_000, calls.size());
    for (CompletableFuture<JSONObject> call : calls) call.get(30, TimeUnit.SECONDS);
    optOut.get(30, TimeUnit.SECONDS);
    assertEquals("OPTED_OUT", device.drain(true).getString("outcome"));
    for (String signal : new String[] {"start", "network", "stop"}) device.awaitSignal(signal);
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException ended) {
      throw new IllegalStateException(ended);
    }
  }

  @Test
  public void rowsOfARefusedFormerWriteKeyAreReadOnceAndAgainWhenItIsNoLongerSetAside() throws Exception {
    device.open("writeKey", "wk-former");
    String[] names = new String[9_000];
    for (int at = 0; at < names.length; at++) names[at] = "former-" + at;
    device.push(names);
    device.kill();
    JSONObject refusal = new JSONObject().put("status", 401);
    device.server.script(new JSONObject().put("answers", new JSONArray().put(refusal)));
    device.open();
    device.push("A");
    JSONObject drained = device.drain(false);
    assertEquals(1, drained.getInt("sent"));
    assertEquals("KEY_REJECTED", drained.getString("outcome"));
    // Who reads them now would take them for rows of the key of now.
    rename("wk-1");
    device.push("B");
    assertEquals(1, device.drain(false).getInt("sent"));
    rename("wk-former");
    device.putState("source", "{\"enabled\":true}");
    assertEquals(9_000, device.drain(false).getInt("sent"));
  }

  private void rename(String writeKey) {
    try (SQLiteDatabase file = SQLiteDatabase.openDatabase(device.database.getPath(), null, SQLiteDatabase.OPEN_READWRITE)) {
      file.execSQL("UPDATE events SET write_key = ?", new String[] {writeKey});
    }
  }

  @Test
  public void aSourceConfigurationOverOneMebibyteIsNoAnswer() throws Exception {
    device.open();
    JSONObject big = new JSONObject().put("status", 200).put("body", "x".repeat(1024 * 1024 + 1));
    device.server.script(new JSONObject().put("config", big));
    assertEquals(0, device.act("config", new JSONObject()).getInt("status"));
    JSONObject fits = new JSONObject().put("status", 200).put("body", "x".repeat(1024 * 1024));
    device.server.script(new JSONObject().put("config", fits));
    assertEquals(1024 * 1024, device.act("config", new JSONObject()).getString("body").length());
  }

  @Test
  public void theLogAtItsLoudestShowsNoKeyAndNoHeader() throws Exception {
    device.open("writeKey", "wk-canary-4711", "gzip", true);
    device.push("A");
    device.server.script(new JSONObject("{\"answers\": [{\"status\": 503}, {\"status\": 400}, {\"status\": 200}, {\"status\": 302, \"headers\": {\"Location\": \"http://elsewhere.example/?k=wk-canary-4711\"}}]}"));
    for (int at = 0; at < 3; at++) device.drain(true);
    device.push("B", "C");
    device.drain(true);
    assertFalse(device.lines("").isEmpty());
    assertEquals(Collections.emptyList(), device.lines("canary"));
    assertEquals(Collections.emptyList(), device.lines("Basic "));
    assertEquals(Collections.emptyList(), device.lines("d2stY2FuYXJ5")); // wk-canary in base64
  }

  @Test
  public void debugIsOneLineABatchWithItsCountBytesStatusAndTime() throws Exception {
    device.open("logLevel", 4);
    device.push("A", "B");
    device.drain(false);
    List<String> lines = device.lines("");
    assertEquals(lines.toString(), 1, lines.size());
    assertTrue(lines.get(0), lines.get(0).matches("batch of 2 events, \\d+ bytes: 200 in 0 ms"));
  }

  @Test
  public void atLevelNoneNothingIsLogged() throws Exception {
    device.open("logLevel", 0);
    device.push("A");
    device.server.script(new JSONObject("{\"answers\": [{\"status\": 400}]}"));
    device.drain(false);
    assertEquals(Collections.emptyList(), device.lines(""));
  }

  @Test
  public void aRefusedEventIsToldByItsIdAndTheStartOfTheAnswer() throws Exception {
    device.open("logLevel", 1);
    device.push("A");
    device.server.script(new JSONObject().put("always", new JSONObject().put("status", 400).put("body", "y".repeat(300))));
    device.drain(false);
    assertEquals(Collections.singletonList("The server refused event A with 400: " + "y".repeat(200)), device.lines(""));
  }

  private CompletableFuture<JSONObject> beginDrain() throws Exception {
    return device.begin(device.engine(), "drain", new JSONObject().put("force", false));
  }

  /** Answers with a beginning and then with one piece after the other, without end. */
  private static final class Trickle implements AutoCloseable {
    private final ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"));

    Trickle(String beginning, String piece) throws IOException {
      Thread thread =
          new Thread(
              () -> {
                try (Socket client = socket.accept()) {
                  OutputStream to = client.getOutputStream();
                  to.write(beginning.getBytes(StandardCharsets.ISO_8859_1));
                  for (; ; to.flush()) {
                    to.write(piece.getBytes(StandardCharsets.ISO_8859_1));
                    Thread.yield();
                  }
                } catch (IOException gone) {
                  // The client has left, or the test is over.
                }
              });
      thread.setDaemon(true);
      thread.start();
    }

    String url() {
      return "http://127.0.0.1:" + socket.getLocalPort() + "/";
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }
}
