package org.millrace.cordova;

/** The one job that may run without the app. */
interface DrainJobs {
  void schedule();

  void cancel();
}
