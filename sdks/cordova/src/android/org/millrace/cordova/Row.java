package org.millrace.cordova;

import java.nio.charset.StandardCharsets;

/** One event of the queue. `body` is its finished JSON text without `sentAt`; `size` its bytes in UTF-8. */
final class Row {
  /** Of the database; of rows that are only in memory, below 0. */
  final long id;

  /** Which file the id is of: a new one begins at 1 again. */
  final int generation;

  final String writeKey;
  final int size;
  final String body;

  Row(long id, int generation, String writeKey, int size, String body) {
    this.id = id;
    this.generation = generation;
    this.writeKey = writeKey;
    this.size = size;
    this.body = body;
  }

  boolean isInMemory() {
    return id < 0;
  }

  static int sizeOf(String body) {
    return body.getBytes(StandardCharsets.UTF_8).length;
  }
}
