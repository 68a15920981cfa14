package org.millrace.cordova;

import org.json.JSONObject;

/** The stream of `listen`. */
interface Signals {
  void send(JSONObject signal);
}
