package org.millrace.cordova;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;
import static org.junit.Assert.fail;

import android.database.sqlite.SQLiteDatabase;
import java.io.File;
import java.io.FileOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.ParameterizedRobolectricTestRunner;
import org.robolectric.ParameterizedRobolectricTestRunner.Parameters;
import org.robolectric.annotation.Config;

/** Every scenario of sdks/cordova/conformance, as BRIDGE.md says that they are read. */
@RunWith(ParameterizedRobolectricTestRunner.class)
@Config(sdk = 35)
public final class ScenarioTest {
  private final File file;
  private final int at;

  public ScenarioTest(String name, String path, int at) {
    file = new File(path);
    this.at = at;
  }

  @Parameters(name = "{0}")
  public static Collection<Object[]> scenarios() throws Exception {
    File folder = new File(System.getProperty("conformance"));
    List<Object[]> scenarios = new ArrayList<>();
    for (File of : new File[] {folder, new File(folder, "sqlite")}) {
      File[] files = of.listFiles((within, name) -> name.endsWith(".json"));
      Arrays.sort(files);
      for (File each : files) {
        JSONObject read = read(each);
        JSONArray list = read.getJSONArray("scenarios");
        for (int at = 0; at < list.length(); at++) {
          String name = read.getString("name") + ": " + list.getJSONObject(at).getString("name");
          scenarios.add(new Object[] {name, each.getPath(), at});
        }
      }
    }
    return scenarios;
  }

  private static JSONObject read(File file) throws Exception {
    return new JSONObject(new String(Files.readAllBytes(file.toPath()), StandardCharsets.UTF_8));
  }

  private Device device;
  private JSONObject openWith;
  private boolean isOpen;

  @Test
  public void holds() throws Exception {
    JSONObject scenario = read(file).getJSONArray("scenarios").getJSONObject(at);
    openWith = scenario.optJSONObject("open");
    try (Device used = new Device()) {
      device = used;
      device.random = scenario.optDouble("random", 0);
      JSONArray steps = scenario.getJSONArray("steps");
      for (int step = 0; step < steps.length(); step++) {
        try {
          run(steps.getJSONObject(step));
          assertEquals("requests", new ArrayList<String>(), device.server.mistakes());
        } catch (AssertionError | Exception failure) {
          throw new AssertionError("step " + (step + 1) + " " + steps.getJSONObject(step) + ": " + failure.getMessage(), failure);
        }
      }
    }
  }

  private void run(JSONObject step) throws Exception {
    switch (step.getString("do")) {
      case "open":
        JSONObject settings = device.settings();
        putAll(settings, openWith);
        putAll(settings, step.optJSONObject("settings"));
        isOpen = true;
        expect(step, device.act("open", settings));
        break;
      case "push":
        JSONObject state = step.has("state") ? step.getJSONObject("state") : new JSONObject();
        expect(step, device.act("push", new JSONObject().put("rows", bodies(step.get("rows"))).put("state", state)));
        break;
      case "state":
        expect(step, device.act("state", step.getJSONObject("set")));
        break;
      case "tail":
        String event = step.isNull("event") ? null : step.getString("event");
        device.act("tail", event == null ? null : "\"type\":\"track\",\"event\":\"" + event + "\"}");
        break;
      case "purge":
        device.act("purge", step.getString("what"));
        break;
      case "drain":
        expect(step, device.act("drain", new JSONObject().put("force", step.optBoolean("force"))));
        break;
      case "config":
        JSONObject known = step.has("etag") ? new JSONObject().put("etag", step.getString("etag")) : new JSONObject();
        expect(step, device.act("config", known));
        break;
      case "server":
        device.server.script(step);
        break;
      case "advance":
        device.clock.advance(step.getLong("ms"));
        break;
      case "clock":
        device.clock.moveWallClock(step.getLong("ms"));
        break;
      case "network":
        device.isOnline = step.getBoolean("online");
        device.server.setOnline(device.isOnline);
        break;
      case "stop":
        device.leave(isOpen);
        break;
      case "start":
        device.enter();
        break;
      case "kill":
        device.kill();
        isOpen = false;
        break;
      case "delete":
        if (step.optBoolean("store")) SQLiteDatabase.deleteDatabase(device.database);
        if (step.optBoolean("guard")) assertTrue(device.guard.delete());
        break;
      case "fault":
        fault(step.isNull("storage") ? "" : step.getString("storage"));
        break;
      case "rows":
        assertEquals(names(step.get("events")), device.rows());
        break;
      case "values":
        values(step.getJSONObject("state"));
        break;
      case "requests":
        requests(step.getJSONArray("batches"));
        break;
      case "signals":
        signals(step.getJSONArray("kinds"));
        break;
      default:
        fail("this step is not known");
    }
  }

  private void fault(String kind) throws Exception {
    switch (kind) {
      case "corrupt":
        SQLiteDatabase.deleteDatabase(device.database);
        try (FileOutputStream to = new FileOutputStream(device.database)) {
          to.write("This is not a database, whatever its name says. ".repeat(200).getBytes(StandardCharsets.UTF_8));
        }
        break;
      case "newer":
        onFile("PRAGMA user_version = 2");
        break;
      case "no-table":
        onFile("DROP TABLE events");
        break;
      default:
        device.faults.set(kind);
    }
  }

  private void onFile(String statement) {
    try (SQLiteDatabase file = SQLiteDatabase.openDatabase(device.database.getPath(), null, SQLiteDatabase.OPEN_READWRITE)) {
      file.execSQL(statement);
    }
  }

  private void values(JSONObject expected) throws Exception {
    for (Iterator<String> keys = expected.keys(); keys.hasNext(); ) {
      String key = keys.next();
      String actual = device.value(key);
      if (expected.isNull(key)) assertEquals(key, null, actual);
      else if (expected.getString(key).equals("*")) assertTrue(key + " is there", actual != null);
      else assertEquals(key, expected.getString(key), actual);
    }
  }

  private void requests(JSONArray expected) throws Exception {
    List<DataPlane.Batch> batches = device.server.takeBatches();
    List<List<String>> events = new ArrayList<>();
    List<List<String>> expectedEvents = new ArrayList<>();
    for (DataPlane.Batch batch : batches) events.add(batch.events);
    for (int each = 0; each < expected.length(); each++) expectedEvents.add(names(expected.getJSONObject(each).get("events")));
    assertEquals(expectedEvents, events);
    for (int each = 0; each < expected.length(); each++) {
      JSONObject of = expected.getJSONObject(each);
      DataPlane.Batch batch = batches.get(each);
      if (of.has("gzip")) assertEquals("gzip", of.getBoolean("gzip"), batch.isGzip);
      if (of.has("attempt")) assertEquals("attempt", of.getString("attempt"), batch.attempt);
      if (of.has("writeKey")) assertEquals("writeKey", of.getString("writeKey"), batch.writeKey);
      if (of.has("anonymousId")) {
        assertEquals("anonymousId", of.isNull("anonymousId") ? null : of.getString("anonymousId"), batch.anonymousId);
      }
    }
  }

  private void signals(JSONArray expected) throws Exception {
    List<String> kinds = new ArrayList<>();
    for (JSONObject signal; (signal = device.signals.poll()) != null; ) {
      String kind = signal.getString("t");
      if (!Arrays.asList("hello", "log", "network").contains(kind)) kinds.add(kind);
    }
    assertEquals(names(expected), kinds);
  }

  private static void expect(JSONObject step, JSONObject answer) throws JSONException {
    if (step.has("expect")) same("answer", step.getJSONObject("expect"), answer);
  }

  /** Members that are not named are not looked at. */
  private static void same(String place, Object expected, Object actual) throws JSONException {
    if (expected instanceof JSONObject && actual instanceof JSONObject) {
      for (Iterator<String> keys = ((JSONObject) expected).keys(); keys.hasNext(); ) {
        String key = keys.next();
        same(place + "." + key, ((JSONObject) expected).get(key), ((JSONObject) actual).opt(key));
      }
    } else if (expected instanceof Number && actual instanceof Number) {
      assertEquals(place, ((Number) expected).doubleValue(), ((Number) actual).doubleValue(), 0);
    } else {
      assertEquals(place, String.valueOf(expected), String.valueOf(actual));
    }
  }

  private static JSONArray bodies(Object rows) throws JSONException {
    JSONArray bodies = new JSONArray();
    JSONArray list = rows instanceof JSONArray ? (JSONArray) rows : new JSONArray(names(rows));
    for (int at = 0; at < list.length(); at++) bodies.put(new JSONObject().put("body", body(list.get(at))));
    return bodies;
  }

  private static String body(Object row) throws JSONException {
    if (row instanceof String) return Device.body((String) row);
    String plain = Device.body(((JSONObject) row).getString("event"));
    String before = plain.substring(0, plain.length() - 1) + ",\"properties\":{\"pad\":\"";
    int pad = ((JSONObject) row).getInt("bytes") - before.length() - 3;
    return before + "x".repeat(pad) + "\"}}";
  }

  /** Of a list of names, or of a range. */
  private static List<String> names(Object of) throws JSONException {
    List<String> names = new ArrayList<>();
    if (of instanceof JSONArray) {
      for (int at = 0; at < ((JSONArray) of).length(); at++) names.add(((JSONArray) of).getString(at));
    } else {
      for (int at = ((JSONObject) of).getInt("from"); at <= ((JSONObject) of).getInt("to"); at++) names.add("e" + at);
    }
    return names;
  }

  private static void putAll(JSONObject into, JSONObject from) throws JSONException {
    if (from == null) return;
    for (Iterator<String> keys = from.keys(); keys.hasNext(); ) {
      String key = keys.next();
      into.put(key, from.get(key));
    }
  }
}
