package org.millrace.cordova;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpRetryException;
import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * One request at a time, over HttpURLConnection: no cookies, no cache, no redirect, and an end whatever the server does.
 *
 * @see "contracts/cordova-sdk.md §15.1"
 */
final class Http {
  private static final int CONNECT_MS = 10_000;

  /** Ends requests that take too long; a connection's own time-outs are per read. */
  private static final ScheduledThreadPoolExecutor DEADLINES = deadlines();

  private volatile HttpURLConnection current;
  private volatile boolean isAborted;

  static final class Answer {
    /** 0: there was none. */
    final int status;

    /** At most as long as was asked for. */
    final String body;

    final boolean isCut;

    /** Why there was no answer; empty when there was one. */
    final String trouble;

    private final HttpURLConnection connection;

    private Answer(int status, String body, boolean isCut, String trouble, HttpURLConnection connection) {
      this.status = status;
      this.body = body;
      this.isCut = isCut;
      this.trouble = trouble;
      this.connection = connection;
    }

    static Answer none(String trouble) {
      return new Answer(0, "", false, trouble, null);
    }

    /** Null when there is no such header. */
    String header(String name) {
      return connection == null ? null : connection.getHeaderField(name);
    }

    boolean isSuccess() {
      return status >= 200 && status < 300;
    }
  }

  /**
   * @param body null: GET; otherwise POST
   * @param inAllMs from now until the answer is read
   * @param mostBytes of the answer that are read
   */
  Answer send(String url, Map<String, String> headers, byte[] body, int inAllMs, int mostBytes) {
    HttpURLConnection connection = null;
    ScheduledFuture<?> deadline = null;
    try {
      connection = (HttpURLConnection) new URL(url).openConnection();
      HttpURLConnection opened = connection;
      current = opened;
      // After it is known to `abort`: one of the two sees the other.
      if (isAborted) return Answer.none("aborted");
      deadline = DEADLINES.schedule(opened::disconnect, inAllMs, TimeUnit.MILLISECONDS);
      connection.setConnectTimeout(CONNECT_MS);
      connection.setReadTimeout(inAllMs);
      connection.setInstanceFollowRedirects(false);
      connection.setUseCaches(false);
      for (Map.Entry<String, String> header : headers.entrySet()) {
        connection.setRequestProperty(header.getKey(), header.getValue());
      }
      if (body != null) {
        connection.setDoOutput(true);
        // Also keeps HttpURLConnection from repeating the request by itself.
        connection.setFixedLengthStreamingMode(body.length);
        connection.getOutputStream().write(body);
      }
      return answer(connection, mostBytes);
    } catch (Throwable failure) {
      // Phones throw more than IOException from inside the connection: SecurityException, AssertionError, LinkageError.
      return Answer.none(String.valueOf(failure));
    } finally {
      if (deadline != null) deadline.cancel(false);
      current = null;
    }
  }

  /** The request in progress ends without an answer, and no other begins until `allow`. Any thread. */
  void abort() {
    isAborted = true;
    HttpURLConnection connection = current;
    if (connection != null) DEADLINES.execute(connection::disconnect);
  }

  void allow() {
    isAborted = false;
  }

  boolean isAborted() {
    return isAborted;
  }

  private static Answer answer(HttpURLConnection connection, int mostBytes) throws IOException {
    int status;
    try {
      status = connection.getResponseCode();
    } catch (HttpRetryException unrepeatable) {
      // How a 401 or 407 may look when the body was streamed.
      status = unrepeatable.responseCode();
    }
    if (status <= 0) throw new IOException("not HTTP");
    ByteArrayOutputStream read = new ByteArrayOutputStream();
    boolean isCut = false;
    try (InputStream stream = status < 400 ? connection.getInputStream() : connection.getErrorStream()) {
      byte[] piece = new byte[4096];
      for (int length; stream != null && (length = stream.read(piece)) >= 0; ) {
        int room = mostBytes - read.size();
        read.write(piece, 0, Math.min(length, room));
        isCut = length > room;
        if (isCut) break;
      }
    } catch (IOException unread) {
      // The status has been said, and it alone decides.
      isCut = true;
    }
    if (isCut) connection.disconnect();
    return new Answer(status, read.toString(StandardCharsets.UTF_8.name()), isCut, "", connection);
  }

  private static ScheduledThreadPoolExecutor deadlines() {
    ScheduledThreadPoolExecutor executor =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "ServiceClient-deadlines");
              thread.setDaemon(true);
              return thread;
            });
    executor.setRemoveOnCancelPolicy(true);
    return executor;
  }
}
