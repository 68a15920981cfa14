package org.millrace.cordova;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.text.SimpleDateFormat;
import java.util.Date;
import java.util.List;
import java.util.Locale;
import java.util.TimeZone;
import java.util.UUID;

/**
 * The JSON of batches, made by joining texts: a row begins with `{"messageId":"…","originalTimestamp":"…",` and becomes an
 * event when `{"sentAt":"…",` takes the place of its first character.
 *
 * @see "contracts/cordova-sdk.md §6"
 */
final class BatchText {
  private static final String AFTER_BATCH = "]}";

  private BatchText() {}

  /** @param isRepeat some of the rows may have been stored by the server before (contracts/ingest.md §4) */
  static byte[] of(List<Row> rows, boolean isRepeat, long now) {
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    append(text, beforeBatch(isRepeat, now));
    String beforeRow = beforeRow(now);
    String separator = "";
    for (Row row : rows) {
      append(text, separator);
      append(text, beforeRow);
      append(text, row.body.substring(1));
      separator = ",";
    }
    append(text, AFTER_BATCH);
    return text.toByteArray();
  }

  /** Bytes of a body without its rows at most, less the comma that the first row does not need. */
  static int bytesAround(long now) {
    return beforeBatch(true, now).length() + AFTER_BATCH.length() - 1;
  }

  /** Bytes that a row takes beyond its own size, its comma included. */
  static int bytesPerRow(long now) {
    return beforeRow(now).length();
  }

  /** The row of an event of which all but the first two members is given. */
  static String event(String tail, long now) {
    return "{\"messageId\":\"" + UUID.randomUUID() + "\",\"originalTimestamp\":\"" + time(now) + "\"," + tail;
  }

  static String messageId(Row row) {
    String start = "{\"messageId\":\"";
    int end = row.body.indexOf('"', start.length());
    return row.body.startsWith(start) && end > 0 ? row.body.substring(start.length(), end) : "without messageId";
  }

  /** UTC with milliseconds and `Z`. */
  static String time(long milliseconds) {
    SimpleDateFormat format = new SimpleDateFormat("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'", Locale.US);
    format.setTimeZone(TimeZone.getTimeZone("UTC"));
    return format.format(new Date(milliseconds));
  }

  private static String beforeBatch(boolean isRepeat, long now) {
    String attempt = isRepeat ? "repeat" : "first";
    return "{\"sentAt\":\"" + time(now) + "\",\"attempt\":\"" + attempt + "\",\"batch\":[";
  }

  private static String beforeRow(long now) {
    return "{\"sentAt\":\"" + time(now) + "\",";
  }

  private static void append(ByteArrayOutputStream to, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    to.write(bytes, 0, bytes.length);
  }
}
