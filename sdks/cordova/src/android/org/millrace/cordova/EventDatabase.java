package org.millrace.cordova;

import android.content.ContentValues;
import android.content.Context;
import android.database.Cursor;
import android.database.DatabaseUtils;
import android.database.sqlite.SQLiteDatabase;
import android.database.sqlite.SQLiteOpenHelper;
import android.text.TextUtils;
import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The SQLite file: statements only. Whatever fails is thrown; EventStore decides what to do about it. No statement here is
 * newer than SQLite 3.9.
 *
 * @see "contracts/cordova-sdk.md §14.1"
 */
final class EventDatabase extends SQLiteOpenHelper {
  private static final int VERSION = 1;
  private static final String EVENTS =
      "events(id INTEGER PRIMARY KEY AUTOINCREMENT, write_key TEXT NOT NULL, size INTEGER NOT NULL, body TEXT NOT NULL)";
  private static final String STATE = "state(key TEXT PRIMARY KEY, value TEXT NOT NULL)";

  private final int generation;
  private final FaultPoint faults;
  private final SQLiteDatabase database;

  /** Kept here because counting reads the whole table; below 0: not counted yet. */
  private long count = -1;

  /** Rows before this one are done with, or of write keys that were passed over: they are not read for each batch. */
  private long from;
  private int passedOver;

  private EventDatabase(Context context, File file, int generation, FaultPoint faults) {
    // Android's own handler deletes a corrupt file; ours leaves it for EventStore to set aside.
    super(context, file.getPath(), null, VERSION, corrupt -> {});
    this.generation = generation;
    this.faults = faults;
    try {
      database = getWritableDatabase();
    } catch (RuntimeException failure) {
      close();
      throw failure;
    }
  }

  /** @param generation goes into the rows that are read */
  static EventDatabase open(Context context, File file, int generation, FaultPoint faults) {
    faults.beforeOpen();
    return new EventDatabase(context, file, generation, faults);
  }

  private static void createTables(SQLiteDatabase database) {
    database.execSQL("CREATE TABLE IF NOT EXISTS " + EVENTS);
    database.execSQL("CREATE TABLE IF NOT EXISTS " + STATE);
  }

  @Override
  public void onConfigure(SQLiteDatabase database) {
    // Not enableWriteAheadLogging(): that would open a pool of connections.
    pragma(database, "busy_timeout=3000");
    pragma(database, "journal_mode=WAL");
    pragma(database, "synchronous=NORMAL");
    pragma(database, "secure_delete=ON");
  }

  @Override
  public void onCreate(SQLiteDatabase database) {
    createTables(database);
  }

  @Override
  public void onUpgrade(SQLiteDatabase database, int from, int to) {
    throw new IllegalStateException("there is no version before 1");
  }

  @Override
  public void onDowngrade(SQLiteDatabase database, int from, int to) {
    throw new StorageFailure.NewerVersionException(from);
  }

  void createMissingTables() {
    createTables(database);
    count = -1;
    from = 0;
  }

  long count() {
    if (count < 0) count = DatabaseUtils.longForQuery(database, "SELECT COUNT(*) FROM events", null);
    return count;
  }

  /** Id of the newest row; 0 without any. */
  long newest() {
    return DatabaseUtils.longForQuery(database, "SELECT COALESCE(MAX(id), 0) FROM events", null);
  }

  void apply(Change change) {
    long[] counted = {count()};
    inTransaction(
        () -> {
          putAll(change.state);
          for (Long id : change.removed) counted[0] -= database.delete("events", "id = ?", texts(id));
          for (String body : change.added) insert(change.writeKey, body);
          counted[0] += change.added.size();
          counted[0] -= trim(counted[0] - change.keepAtMost);
        });
    count = counted[0];
  }

  /** Makes room on a full disk. @return rows that left */
  long dropOldestTenth() {
    long tenth = count() / 10;
    Change change = new Change();
    change.keepAtMost = (int) (count() - tenth);
    apply(change);
    return tenth;
  }

  /** What the log holds goes into the file itself. */
  void emptyLog() {
    pragma(database, "wal_checkpoint(TRUNCATE)");
  }

  /** All rows, and from the disk as well. */
  void removeAll(Map<String, String> state) {
    inTransaction(
        () -> {
          putAll(state);
          database.delete("events", null, null);
        });
    count = 0;
    emptyLog();
  }

  /**
   * The oldest rows of the write key of the oldest row.
   *
   * @param passedOver write keys that do not count; there are more each time, or none
   * @param done ids that do not count, although they could not be deleted yet
   */
  List<Row> oldest(Collection<String> passedOver, Collection<Long> done, BatchRoom room) {
    if (passedOver.size() < this.passedOver) from = 0;
    this.passedOver = passedOver.size();
    String marks = TextUtils.join(",", Collections.nCopies(passedOver.size(), "?"));
    String isOther = "write_key NOT IN (" + marks + ") AND id NOT IN (" + TextUtils.join(",", done) + ")";
    String[] keys = passedOver.toArray(new String[0]);
    String key;
    String first = "SELECT id, write_key FROM events WHERE id >= " + from + " AND " + isOther + " ORDER BY id LIMIT 1";
    try (Cursor cursor = database.rawQuery(first, keys)) {
      boolean isThere = cursor.moveToNext();
      from = isThere ? cursor.getLong(0) : Math.max(from, newest() + 1);
      if (!isThere) return new ArrayList<>();
      key = cursor.getString(1);
    }
    String where = "id >= " + from + " AND " + isOther;

    // Sizes first: a window of Android's cursor holds 2 MB, and a thousand bodies may be sixteen times that.
    String[] arguments = concat(keys, key);
    String last = null;
    String rest = " FROM events WHERE " + where + " AND write_key = ? ";
    try (Cursor sizes = database.rawQuery("SELECT id, size" + rest + "ORDER BY id LIMIT " + room.rows(), arguments)) {
      while (sizes.moveToNext() && room.takes(sizes.getInt(1))) last = sizes.getString(0);
    }
    List<Row> rows = new ArrayList<>();
    if (last == null) return rows;
    String bodies = "SELECT id, size, body" + rest + "AND id <= ? ORDER BY id";
    try (Cursor cursor = database.rawQuery(bodies, concat(arguments, last))) {
      while (cursor.moveToNext()) rows.add(new Row(cursor.getLong(0), generation, key, cursor.getInt(1), cursor.getString(2)));
    }
    return rows;
  }

  String value(String key) {
    return text("SELECT value FROM state WHERE key = ?", texts(key));
  }

  Map<String, String> state() {
    Map<String, String> state = new LinkedHashMap<>();
    try (Cursor cursor = database.rawQuery("SELECT key, value FROM state ORDER BY key", null)) {
      while (cursor.moveToNext()) state.put(cursor.getString(0), cursor.getString(1));
    }
    return state;
  }

  private void inTransaction(Runnable work) {
    database.beginTransactionNonExclusive();
    RuntimeException failure = null;
    try {
      work.run();
      faults.beforeCommit();
      database.setTransactionSuccessful();
    } catch (RuntimeException thrown) {
      failure = thrown;
    }
    try {
      database.endTransaction();
    } catch (RuntimeException thrown) {
      // On a full disk SQLite has rolled back by itself, and Android's own attempt fails: the first failure tells.
      if (failure == null) failure = thrown;
    }
    if (failure != null) throw failure;
  }

  private void insert(String writeKey, String body) {
    ContentValues values = new ContentValues();
    values.put("write_key", writeKey);
    values.put("size", Row.sizeOf(body));
    values.put("body", body);
    database.insertOrThrow("events", null, values);
  }

  private void putAll(Map<String, String> state) {
    for (Map.Entry<String, String> entry : state.entrySet()) put(entry.getKey(), entry.getValue());
  }

  private void put(String key, String value) {
    if (value == null) {
      database.delete("state", "key = ?", texts(key));
      return;
    }
    ContentValues values = new ContentValues();
    values.put("key", key);
    values.put("value", value);
    database.replaceOrThrow("state", null, values);
  }

  /** @return rows that left */
  private long trim(long excess) {
    if (excess <= 0) return 0;
    int left = database.delete("events", "id IN (SELECT id FROM events ORDER BY id LIMIT ?)", texts(excess));
    put("trimmed", String.valueOf(EventStore.counter(value("trimmed")) + left));
    return left;
  }

  private String text(String query, String[] arguments) {
    try (Cursor cursor = database.rawQuery(query, arguments)) {
      return cursor.moveToNext() ? cursor.getString(0) : null;
    }
  }

  private static void pragma(SQLiteDatabase database, String pragma) {
    try (Cursor answer = database.rawQuery("PRAGMA " + pragma, null)) {
      answer.moveToFirst();
    }
  }

  private static String[] texts(Object value) {
    return new String[] {String.valueOf(value)};
  }

  private static String[] concat(String[] texts, String more) {
    String[] all = Arrays.copyOf(texts, texts.length + 1);
    all[texts.length] = more;
    return all;
  }
}
