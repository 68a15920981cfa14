package org.millrace.cordova;

import android.database.sqlite.SQLiteCantOpenDatabaseException;
import android.database.sqlite.SQLiteDatabaseLockedException;
import android.database.sqlite.SQLiteDiskIOException;
import android.database.sqlite.SQLiteFullException;
import android.database.sqlite.SQLiteReadOnlyDatabaseException;

/** Throws what Android throws, as long as it is told to. */
final class ScriptedFaults implements FaultPoint {
  private volatile String fault = "";

  /** @param fault as in a scenario; `-once` at its end means the next time only */
  void set(String fault) {
    this.fault = fault;
  }

  @Override
  public void beforeOpen() {
    if (fault.equals("open")) throw new SQLiteCantOpenDatabaseException("scripted");
  }

  @Override
  public void beforeCommit() {
    String kind = fault;
    if (kind.endsWith("-once")) fault = "";
    if (kind.startsWith("full")) throw new SQLiteFullException("scripted");
    if (kind.startsWith("readonly")) throw new SQLiteReadOnlyDatabaseException("scripted");
    if (kind.startsWith("busy")) throw new SQLiteDatabaseLockedException("scripted");
    if (kind.startsWith("io")) throw new SQLiteDiskIOException("scripted");
  }
}
