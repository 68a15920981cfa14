package org.millrace.cordova;

import android.content.Context;
import android.database.sqlite.SQLiteDatabase;
import java.io.File;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The queue and the state: in SQLite, and in memory as far as SQLite fails. No method throws because of storage, none is for
 * another thread than the worker.
 *
 * What a failure does is in `attempt` and `mend`: it is reported, mended once where that may help, and otherwise the rest of
 * this process goes on in memory. Rows that are in the database by then are still sent; those in memory never move into it.
 * State kept in memory is written with the next transaction that succeeds.
 *
 * @see "contracts/cordova-sdk.md §14, §21"
 */
final class EventStore {
  private static final String[] SET_ASIDE = {"corrupt", "newer"};

  private final Context context;
  private final File file;
  private final Worker worker;
  private final FaultPoint faults;
  private final Reports reports;

  final MemoryQueue memory = new MemoryQueue();

  /** State that is not in the database; null: removed. */
  private final Map<String, String> overlay = new LinkedHashMap<>();

  /** Rows that are done with and could not be deleted: not sent again by this process. */
  private final Set<Long> done = new LinkedHashSet<>();

  EventDatabase database;

  /** Newest row that a request may have carried before: of an earlier process, or of this one; and of those in memory. */
  private long triedUpTo;
  private long triedInMemory;

  /** Counts the files that there were: the id of a row means nothing in another one. */
  private int generation;

  private boolean wasOpened;
  private boolean inMemory;

  interface Reports {
    /** Hears of each failure, also of those that were mended. */
    void storageFailed(String code, Throwable failure);

    /** So many of the oldest events were deleted, because the disk is full. */
    void storageLost(long events);
  }

  EventStore(Context context, File folder, Worker worker, FaultPoint faults, Reports reports) {
    this.context = context;
    this.file = new File(folder, "events.db");
    this.worker = worker;
    this.faults = faults;
    this.reports = reports;
  }

  /** Opens the file, once a process; all methods do so by themselves. */
  void open() {
    worker.mustBeCurrent();
    if (wasOpened) return;
    wasOpened = true;
    attempt(EventDatabase::count);
    triedUpTo = read(EventDatabase::newest, 0L);
  }

  /** Files that could not be opened may be readable now: they are opened again, unless a row is only in memory. */
  void lookAgain() {
    if (database != null || memory.count() > 0) return;
    wasOpened = false;
    inMemory = false;
  }

  String storage() {
    open();
    return inMemory ? "memory" : "sqlite";
  }

  /** Rows of all write keys, in database and memory. */
  int count() {
    open();
    return (int) (read(EventDatabase::count, 0L) - done.size()) + memory.count();
  }

  String value(String key) {
    open();
    return overlay.containsKey(key) ? overlay.get(key) : read(opened -> opened.value(key), null);
  }

  Map<String, String> state() {
    open();
    Map<String, String> state = new LinkedHashMap<>(read(EventDatabase::state, Collections.emptyMap()));
    state.putAll(overlay);
    state.values().removeAll(Collections.singleton(null));
    return state;
  }

  /** @return whether these rows or values are only in memory */
  boolean commit(Change change) {
    open();
    Change whole = Change.ofState(overlay);
    whole.state.putAll(change.state);
    whole.added.addAll(change.added);
    whole.removed.addAll(done);
    whole.writeKey = change.writeKey;
    whole.keepAtMost = change.keepAtMost;
    if (!inMemory && attempt(opened -> opened.apply(whole))) {
      overlay.clear();
      done.clear();
      return false;
    }
    overlay.putAll(change.state);
    int left = memory.add(change.writeKey, change.added, change.keepAtMost);
    if (left > 0) overlay.put("trimmed", String.valueOf(counter(value("trimmed")) + left));
    return true;
  }

  /** A request with these rows begins. @return whether one may have carried some of them before */
  boolean begin(List<Row> rows) {
    boolean isRepeat = false;
    for (Row row : rows) {
      long tried = row.isInMemory() ? triedInMemory : triedUpTo;
      isRepeat |= Math.abs(row.id) <= tried;
    }
    for (Row row : rows) {
      if (row.isInMemory()) triedInMemory = Math.max(triedInMemory, -row.id);
      else triedUpTo = Math.max(triedUpTo, row.id);
    }
    return isRepeat;
  }

  /** Rows that are done with leave, and the state changes with them. */
  void remove(Collection<Row> rows, Map<String, String> state) {
    open();
    memory.remove(rows);
    for (Row row : rows) if (!row.isInMemory() && row.generation == generation) done.add(row.id);
    if (state.isEmpty()) removeDone();
    else commit(Change.ofState(state));
  }

  /** Every row leaves, from the disk as well. */
  void purge(Map<String, String> state) {
    open();
    memory.removeAll();
    overlay.putAll(state);
    if (database != null && attempt(opened -> opened.removeAll(overlay))) {
      overlay.clear();
    } else {
      // Deleted must mean gone: the file goes, and the state that can be read comes back in a new one.
      Map<String, String> kept = state();
      close();
      generation++;
      SQLiteDatabase.deleteDatabase(file);
      overlay.putAll(kept);
      inMemory = !attempt(opened -> opened.apply(Change.ofState(overlay)));
    }
    done.clear();
    for (String name : SET_ASIDE) SQLiteDatabase.deleteDatabase(aside(name));
  }

  /**
   * The oldest rows of one write key, as many as there is room for.
   *
   * @param passedOver write keys that do not count
   * @param room makes the same room each time it is asked
   */
  List<Row> oldest(Collection<String> passedOver, Supplier<BatchRoom> room) {
    open();
    BatchRoom[] left = {room.get()};
    List<Row> rows = new ArrayList<>();
    rows.addAll(read(opened -> opened.oldest(passedOver, done, left[0] = room.get()), rows));
    String key = rows.isEmpty() ? null : rows.get(0).writeKey;
    rows.addAll(memory.oldest(key, passedOver, left[0]));
    return rows;
  }

  /** For tests, which end a process without ending theirs. */
  void close() {
    if (database != null) database.close();
    database = null;
  }

  static long counter(String text) {
    try {
      return text == null ? 0 : Long.parseLong(text);
    } catch (NumberFormatException damaged) {
      return 0;
    }
  }

  private interface Work {
    void on(EventDatabase database);
  }

  private interface Query<T> {
    T of(EventDatabase database);
  }

  private <T> T read(Query<T> query, T otherwise) {
    List<T> answer = new ArrayList<>(1);
    if (inMemory) {
      try {
        return database == null ? otherwise : query.of(database);
      } catch (RuntimeException failure) {
        report(failure);
        return otherwise;
      }
    }
    return attempt(opened -> answer.add(query.of(opened))) ? answer.get(0) : otherwise;
  }

  /** @return whether the work was done; if not, storage is memory from now on, unless it was only busy */
  private boolean attempt(Work work) {
    boolean isCompacted = false;
    boolean isMended = false;
    while (true) {
      try {
        if (database == null) database = openFile();
        work.on(database);
        return true;
      } catch (RuntimeException thrown) {
        StorageFailure failure = report(thrown);
        if (failure == StorageFailure.FULL && database != null && !isCompacted) {
          isCompacted = true;
          compact();
          continue;
        }
        if (!isMended && mend(failure)) {
          isMended = true;
          continue;
        }
        inMemory = failure != StorageFailure.BUSY || database == null;
        return false;
      }
    }
  }

  /** @return whether it is worth another try */
  private boolean mend(StorageFailure failure) {
    try {
      switch (failure) {
        case BUSY:
          return true;
        case FULL:
          if (database == null) return false;
          long lost = database.dropOldestTenth();
          if (lost > 0) reports.storageLost(lost);
          return true;
        case NO_TABLE:
          if (database != null) database.createMissingTables();
          return database != null;
        case IO:
          close();
          return true;
        case CORRUPT:
          return setAside("corrupt");
        case NEWER:
          return setAside("newer");
        case READ_ONLY:
        case CANNOT_OPEN:
          return false;
      }
    } catch (RuntimeException again) {
      report(again);
    }
    return false;
  }

  /** The room that costs no event: that of SQLite's log, and of rows that are done with. */
  private void compact() {
    try {
      database.emptyLog();
    } catch (RuntimeException failure) {
      report(failure);
    }
    removeDone();
  }

  private EventDatabase openFile() {
    File folder = file.getParentFile();
    folder.mkdirs();
    return EventDatabase.open(context, file, generation, faults);
  }

  /** One such file is kept, so that somebody can look at it; purge deletes it. */
  private boolean setAside(String name) {
    close();
    generation++;
    done.clear();
    SQLiteDatabase.deleteDatabase(aside(name));
    boolean isAside = file.renameTo(aside(name));
    for (String part : new String[] {"-wal", "-shm", "-journal"}) new File(file.getPath() + part).delete();
    return isAside;
  }

  private File aside(String name) {
    return new File(file.getParentFile(), "events." + name);
  }

  /** A failure changes nothing but that they wait for the next transaction. */
  private void removeDone() {
    if (database == null || done.isEmpty()) return;
    Change change = new Change();
    change.removed.addAll(done);
    try {
      database.apply(change);
      done.clear();
    } catch (RuntimeException failure) {
      report(failure);
    }
  }

  private StorageFailure report(RuntimeException thrown) {
    StorageFailure failure = StorageFailure.of(thrown);
    reports.storageFailed(failure.code, thrown);
    return failure;
  }
}
