package org.millrace.cordova;

/** A clock that stands still until it is moved. */
final class ManualClock implements Clock {
  /** 2026-11-20T09:30:00.000Z */
  static final long START = 1795167000000L;

  private volatile long now = START;
  private volatile long monotonic = 1_000_000;

  @Override
  public long now() {
    return now;
  }

  @Override
  public long monotonic() {
    return monotonic;
  }

  void advance(long milliseconds) {
    now += milliseconds;
    monotonic += milliseconds;
  }

  void moveWallClock(long milliseconds) {
    now += milliseconds;
  }
}
