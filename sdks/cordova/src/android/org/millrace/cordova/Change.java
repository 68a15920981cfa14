package org.millrace.cordova;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What one transaction does to the store: all of it or nothing. */
final class Change {
  /** Texts of new events, in order, under `writeKey`. */
  final List<String> added = new ArrayList<>();

  /** Ids of rows of the database that are done with. */
  final List<Long> removed = new ArrayList<>();

  /** Null removes the key. */
  final Map<String, String> state = new LinkedHashMap<>();

  String writeKey = "";

  /** Beyond so many rows the oldest leave, counted in the state under `trimmed`. */
  int keepAtMost = Integer.MAX_VALUE;

  static Change ofState(Map<String, String> state) {
    Change change = new Change();
    change.state.putAll(state);
    return change;
  }
}
