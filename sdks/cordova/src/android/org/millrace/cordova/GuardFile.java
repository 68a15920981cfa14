package org.millrace.cordova;

import android.system.ErrnoException;
import android.system.OsConstants;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.json.JSONException;
import org.json.JSONObject;

/**
 * The values that must outlive the database: `guard.json`, texts as in the state store. A change is written to a
 * temporary file, synced and renamed, so that the file is the old or the new one at any moment.
 *
 * A file that is there and cannot be read may hold an opt-out. It is read again each time it is asked for, and never written
 * before. Changes wait in memory until then; they are newer than the file.
 *
 * @see "contracts/cordova-sdk.md §14.4"
 */
final class GuardFile {
  static final List<String> KEYS = Collections.unmodifiableList(Arrays.asList("tracking", "anonymousId", "marker"));

  /** Far above what the three values can be; a longer file is not ours. */
  private static final int LONGEST_BYTES = 65_536;

  private final File file;
  private final Worker worker;

  /** Null as long as the file cannot be read. */
  private Map<String, String> values;

  /** The file holds `values`; not so after a write that failed, as on a full disk. */
  private boolean isOnDisk;

  /** Changes until then; null: removed. */
  private final Map<String, String> waiting = new LinkedHashMap<>();

  GuardFile(File folder, Worker worker) {
    file = new File(folder, "guard.json");
    this.worker = worker;
  }

  /** Null when there is none, or none is known. */
  String get(String key) {
    return isUnread() ? waiting.get(key) : values.get(key);
  }

  /** Whether there is a file that cannot be read: what it holds is unknown then. */
  boolean isUnread() {
    worker.mustBeCurrent();
    if (values != null) return false;
    try {
      values = read();
    } catch (IOException unreadable) {
      return true;
    }
    try {
      put(waiting);
    } catch (IOException unwritten) {
      // They hold for this process, and the next change writes them too.
    }
    return false;
  }

  /**
   * Takes the guarded ones of these changes; null removes. They hold for this process even when the file cannot be written.
   *
   * @return false when none of them is guarded
   * @throws IOException not written, or not yet
   */
  boolean put(Map<String, String> changes) throws IOException {
    boolean isUnread = isUnread();
    Map<String, String> next = new LinkedHashMap<>(isUnread ? waiting : values);
    boolean isGuarding = false;
    for (String key : KEYS) {
      if (!changes.containsKey(key)) continue;
      isGuarding = true;
      if (changes.get(key) == null && !isUnread) next.remove(key);
      else next.put(key, changes.get(key));
    }
    if (isUnread) {
      waiting.putAll(next);
      if (isGuarding) throw new IOException("guard.json cannot be read");
      return false;
    }
    if (!isGuarding || (next.equals(values) && isOnDisk && file.exists())) return isGuarding;
    values = next;
    isOnDisk = false;
    write(new JSONObject(next).toString());
    isOnDisk = true;
    return true;
  }

  private Map<String, String> read() throws IOException {
    Map<String, String> read = new LinkedHashMap<>();
    try (FileInputStream from = new FileInputStream(file)) {
      byte[] bytes = new byte[(int) Math.min(file.length(), LONGEST_BYTES)];
      int length = 0;
      for (int more; (more = from.read(bytes, length, bytes.length - length)) > 0; ) length += more;
      JSONObject parsed = new JSONObject(new String(bytes, 0, length, StandardCharsets.UTF_8));
      for (String key : KEYS) if (parsed.opt(key) instanceof String) read.put(key, parsed.getString(key));
      isOnDisk = true;
    } catch (FileNotFoundException failure) {
      if (!isAbsent(failure)) throw failure;
    } catch (JSONException damaged) {
      // The copy in the database counts, and the next change writes a good file.
    }
    return read;
  }

  /** Java has one exception for all that keeps a file from being opened; Android tells the cause. */
  private boolean isAbsent(FileNotFoundException failure) {
    if (!(failure.getCause() instanceof ErrnoException)) return !file.exists();
    int cause = ((ErrnoException) failure.getCause()).errno;
    return cause == OsConstants.ENOENT || cause == OsConstants.ENOTDIR;
  }

  private void write(String text) throws IOException {
    File folder = file.getParentFile();
    if (!folder.isDirectory() && !folder.mkdirs()) throw new IOException("cannot make the folder of guard.json");
    File temporary = new File(folder, "guard.json.new");
    try (FileOutputStream to = new FileOutputStream(temporary)) {
      to.write(text.getBytes(StandardCharsets.UTF_8));
      to.getFD().sync();
    }
    if (!temporary.renameTo(file)) throw new IOException("cannot rename guard.json.new");
  }
}
