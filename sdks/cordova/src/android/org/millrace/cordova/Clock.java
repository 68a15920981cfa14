package org.millrace.cordova;

import android.os.SystemClock;

/** Where times come from, so that tests can say what time it is. */
interface Clock {
  /** Wall clock, milliseconds since 1970: for times that are told. It may jump. */
  long now();

  /** Milliseconds of a clock that only goes on, also while the device sleeps: for waits. */
  long monotonic();

  Clock SYSTEM =
      new Clock() {
        @Override
        public long now() {
          return System.currentTimeMillis();
        }

        @Override
        public long monotonic() {
          return SystemClock.elapsedRealtime();
        }
      };
}
