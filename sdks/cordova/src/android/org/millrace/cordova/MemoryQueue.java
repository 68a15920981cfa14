package org.millrace.cordova;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** Events that could not be stored: at most 1,000 and 2 MiB, the oldest leave first. They are lost when the process ends. */
final class MemoryQueue {
  private static final int MOST_ROWS = 1_000;
  private static final int MOST_BYTES = 2 * 1024 * 1024;

  final ArrayDeque<Row> rows = new ArrayDeque<>();
  private long bytes;
  private long lastId;

  int count() {
    return rows.size();
  }

  /** @return how many had to leave */
  int add(String writeKey, List<String> bodies, int keepAtMost) {
    for (String body : bodies) {
      Row row = new Row(--lastId, 0, writeKey, Row.sizeOf(body), body);
      rows.add(row);
      bytes += row.size;
    }
    int left = 0;
    for (; rows.size() > Math.min(MOST_ROWS, keepAtMost) || bytes > MOST_BYTES; left++) bytes -= rows.remove().size;
    return left;
  }

  void remove(Collection<Row> done) {
    for (Row row : done) if (rows.remove(row)) bytes -= row.size;
  }

  void removeAll() {
    rows.clear();
    bytes = 0;
  }

  /**
   * The oldest rows of one write key.
   *
   * @param key null: the key of the oldest row that is not passed over
   */
  List<Row> oldest(String key, Collection<String> passedOver, BatchRoom room) {
    List<Row> oldest = new ArrayList<>();
    for (Row row : rows) {
      if (key == null && !passedOver.contains(row.writeKey)) key = row.writeKey;
      if (!row.writeKey.equals(key)) continue;
      if (!room.takes(row.size)) break;
      oldest.add(row);
    }
    return oldest;
  }
}
