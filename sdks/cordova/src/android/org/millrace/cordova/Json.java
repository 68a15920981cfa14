package org.millrace.cordova;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.json.JSONException;
import org.json.JSONObject;

/** JSON objects of values that are known to fit. */
final class Json {
  private Json() {}

  /** @param members names and values in turn; a member whose value is null is left out. */
  static JSONObject object(Object... members) {
    JSONObject made = new JSONObject();
    for (int at = 0; at < members.length; at += 2) put(made, (String) members[at], members[at + 1]);
    return made;
  }

  static void put(JSONObject into, String name, Object value) {
    try {
      into.putOpt(name, value);
    } catch (JSONException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /**
   * Texts by key; null where the object says null.
   *
   * @throws JSONException when a value is neither a text nor null
   */
  static Map<String, String> texts(JSONObject from) throws JSONException {
    Map<String, String> texts = new LinkedHashMap<>();
    for (Iterator<String> keys = from.keys(); keys.hasNext(); ) {
      String key = keys.next();
      Object value = from.get(key);
      if (value != JSONObject.NULL && !(value instanceof String)) throw new JSONException(key + " is not a text");
      texts.put(key, value == JSONObject.NULL ? null : (String) value);
    }
    return texts;
  }
}
