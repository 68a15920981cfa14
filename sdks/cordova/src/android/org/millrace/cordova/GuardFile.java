package org.millrace.cordova;

import java.io.File;
import java.io.FileInputStream;
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
 * @see "contracts/cordova-sdk.md §14.4"
 */
final class GuardFile {
  static final List<String> KEYS = Collections.unmodifiableList(Arrays.asList("tracking", "anonymousId", "marker"));

  /** Far above what the three values can be; a longer file is not ours. */
  private static final int LONGEST_BYTES = 65_536;

  private final File file;
  private final Worker worker;
  private Map<String, String> values;

  GuardFile(File folder, Worker worker) {
    file = new File(folder, "guard.json");
    this.worker = worker;
  }

  String get(String key) {
    return values().get(key);
  }

  /** Takes the guarded ones of these changes; null removes. They hold for this process even when the file cannot be written. */
  void put(Map<String, String> changes) throws IOException {
    Map<String, String> next = new LinkedHashMap<>(values());
    for (String key : KEYS) {
      if (!changes.containsKey(key)) continue;
      if (changes.get(key) == null) next.remove(key);
      else next.put(key, changes.get(key));
    }
    if (next.equals(values) && file.exists()) return;
    values = next;
    write(new JSONObject(next).toString());
  }

  private Map<String, String> values() {
    worker.mustBeCurrent();
    if (values == null) values = read();
    return values;
  }

  private Map<String, String> read() {
    Map<String, String> read = new LinkedHashMap<>();
    try (FileInputStream from = new FileInputStream(file)) {
      byte[] bytes = new byte[(int) Math.min(file.length(), LONGEST_BYTES)];
      int length = 0;
      for (int more; (more = from.read(bytes, length, bytes.length - length)) > 0; ) length += more;
      JSONObject parsed = new JSONObject(new String(bytes, 0, length, StandardCharsets.UTF_8));
      for (String key : KEYS) if (parsed.opt(key) instanceof String) read.put(key, parsed.getString(key));
    } catch (IOException | JSONException unreadable) {
      // Absent or damaged: the copy in the database counts, and the next change writes a good file.
    }
    return read;
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
