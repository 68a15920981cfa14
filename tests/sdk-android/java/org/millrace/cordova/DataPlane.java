package org.millrace.cordova;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPInputStream;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/** A server on this machine that answers as a scenario says, and keeps what it was asked. */
final class DataPlane implements AutoCloseable {
  /** One request to /v1/batch. */
  static final class Batch {
    final List<String> events = new ArrayList<>();
    String writeKey;
    String anonymousId;
    boolean isGzip;
    String attempt;
  }

  private final HttpServer server;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final Clock clock;
  private final List<Batch> batches = new ArrayList<>();
  private final List<String> mistakes = new ArrayList<>();
  private final ArrayDeque<JSONObject> answers = new ArrayDeque<>();
  private JSONObject always;
  private JSONObject poison;
  private JSONObject config;
  private boolean isOnline = true;

  /** Requests that hang as long as this is locked; they have been recorded. */
  final Semaphore hold = new Semaphore(1);

  /** @param clock of the device, which every `sentAt` must show; null: any time will do */
  DataPlane(Clock clock) throws IOException {
    this.clock = clock;
    server = HttpServer.create(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0), 0);
    server.setExecutor(threads);
    server.createContext("/", this::serve);
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  synchronized void script(JSONObject step) throws JSONException {
    answers.clear();
    JSONArray given = step.optJSONArray("answers");
    for (int at = 0; given != null && at < given.length(); at++) answers.add(given.getJSONObject(at));
    poison = step.optJSONObject("poison");
    always = step.optJSONObject("always");
    if (step.has("config")) config = step.getJSONObject("config");
  }

  synchronized void setOnline(boolean isOnline) {
    this.isOnline = isOnline;
  }

  /** Waits until one is here. */
  synchronized void awaitBatch() throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (batches.isEmpty()) {
      long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      if (left <= 0) throw new AssertionError("no batch in 30 s; " + mistakes);
      wait(left);
    }
  }

  /** Since the last call. */
  synchronized List<Batch> takeBatches() {
    List<Batch> taken = new ArrayList<>(batches);
    batches.clear();
    return taken;
  }

  /** What was wrong with any request so far. */
  synchronized List<String> mistakes() {
    return new ArrayList<>(mistakes);
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }

  private void serve(HttpExchange exchange) throws IOException {
    byte[] body = bytes(exchange.getRequestBody());
    JSONObject answer;
    synchronized (this) {
      try {
        answer = !isOnline ? new JSONObject().put("lost", true) : answerTo(exchange, body);
      } catch (JSONException | IOException | RuntimeException wrong) {
        mistakes.add(String.valueOf(wrong));
        answer = null;
      }
    }
    hold.acquireUninterruptibly();
    hold.release();
    if (answer == null || answer.optBoolean("lost")) exchange.close();
    else respond(exchange, answer);
  }

  private JSONObject answerTo(HttpExchange exchange, byte[] body) throws JSONException, IOException {
    Headers headers = exchange.getRequestHeaders();
    must(headers.getFirst("User-Agent").matches("service-sdk-cordova/1\\.4\\.0 \\(Android 15\\)"), "User-Agent");
    must(headers.getFirst("Cookie") == null, "no cookie");
    String path = exchange.getRequestURI().getPath();
    if (path.equals("/sourceConfig")) {
      must(exchange.getRequestMethod().equals("GET"), "GET");
      must(exchange.getRequestURI().getQuery().equals("p=android&v=1.4.0&bv=15.1.0"), exchange.getRequestURI().getQuery());
      must(writeKey(headers).startsWith("wk-"), "Authorization");
      return config == null ? new JSONObject().put("status", 404) : config;
    }
    must(path.equals("/v1/batch") && exchange.getRequestMethod().equals("POST"), "POST /v1/batch, not " + path);
    must("application/json".equals(headers.getFirst("Content-Type")), "Content-Type");

    Batch batch = new Batch();
    batch.isGzip = "gzip".equals(headers.getFirst("Content-Encoding"));
    batch.writeKey = writeKey(headers);
    String anonymousId = headers.getFirst("AnonymousId");
    batch.anonymousId = anonymousId == null ? null : decoded(anonymousId);
    byte[] text = batch.isGzip ? bytes(new GZIPInputStream(new ByteArrayInputStream(body))) : body;
    must(text.length <= 512_000, "at most 512,000 bytes, not " + text.length);
    JSONObject sent = new JSONObject(new String(text, StandardCharsets.UTF_8));
    String now = clock == null ? sent.getString("sentAt") : BatchText.time(clock.now());
    must(sent.getString("sentAt").equals(now), "sentAt of the batch");
    batch.attempt = sent.getString("attempt");
    JSONArray events = sent.getJSONArray("batch");
    for (int at = 0; at < events.length(); at++) {
      must(events.getJSONObject(at).getString("sentAt").equals(now), "sentAt of an event");
      must(!events.getJSONObject(at).getString("messageId").isEmpty(), "messageId");
      batch.events.add(events.getJSONObject(at).getString("event"));
    }
    batches.add(batch);
    notifyAll();
    return batchAnswer(batch);
  }

  private JSONObject batchAnswer(Batch batch) throws JSONException {
    if (!answers.isEmpty()) return answers.remove();
    JSONArray poisonous = poison == null ? new JSONArray() : poison.getJSONArray("events");
    for (int at = 0; at < batch.events.size(); at++) {
      for (int each = 0; each < poisonous.length(); each++) {
        if (!batch.events.get(at).equals(poisonous.getString(each))) continue;
        JSONObject answer = new JSONObject().put("status", poison.getInt("status"));
        if (!poison.optBoolean("index")) return answer;
        return answer.put("headers", new JSONObject().put("X-Millrace-Event-Index", String.valueOf(at)));
      }
    }
    return always == null ? new JSONObject().put("status", 200) : always;
  }

  private static void respond(HttpExchange exchange, JSONObject answer) throws IOException {
    JSONObject headers = answer.optJSONObject("headers");
    for (java.util.Iterator<String> names = headers == null ? null : headers.keys(); names != null && names.hasNext(); ) {
      String name = names.next();
      exchange.getResponseHeaders().set(name, headers.optString(name));
    }
    // HTTP clients repeat by themselves what got no answer on a connection that was used before.
    exchange.getResponseHeaders().set("Connection", "close");
    int status = answer.optInt("status");
    byte[] body = answer.optString("body").getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
    if (body.length > 0) exchange.getResponseBody().write(body);
    exchange.close();
  }

  private static String writeKey(Headers headers) {
    String authorization = headers.getFirst("Authorization");
    must(authorization != null && authorization.startsWith("Basic "), "Authorization");
    String pair = decoded(authorization.substring("Basic ".length()));
    must(pair.endsWith(":"), "an empty password");
    return pair.substring(0, pair.length() - 1);
  }

  private static String decoded(String base64) {
    return new String(Base64.getDecoder().decode(base64), StandardCharsets.UTF_8);
  }

  private static byte[] bytes(InputStream from) throws IOException {
    ByteArrayOutputStream read = new ByteArrayOutputStream();
    byte[] piece = new byte[8192];
    for (int length; (length = from.read(piece)) > 0; ) read.write(piece, 0, length);
    return read.toByteArray();
  }

  private static void must(boolean holds, String what) {
    if (!holds) throw new IllegalStateException("a request must have: " + what);
  }
}
