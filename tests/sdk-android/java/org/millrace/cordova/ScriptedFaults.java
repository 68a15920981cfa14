package org.millrace.cordova;

import android.database.sqlite.SQLiteCantOpenDatabaseException;
import android.database.sqlite.SQLiteDatabaseLockedException;
import android.database.sqlite.SQLiteDiskIOException;
import android.database.sqlite.SQLiteFullException;
import android.database.sqlite.SQLiteReadOnlyDatabaseException;
import java.util.concurrent.atomic.AtomicInteger;

/** Throws what Android throws, as long as it is told to. */
final class ScriptedFaults implements FaultPoint {
  private volatile String fault = "";
  /** Runs inside each transaction. */
  volatile Runnable atCommit = () -> {};

  private final AtomicInteger openings = new AtomicInteger();
  private final AtomicInteger commits = new AtomicInteger();

  /** Transactions so far, also those that failed. */
  int commits() {
    return commits.get();
  }

  int openings() {
    return openings.get();
  }

  /** @param fault as in a scenario; `-once` or `-twice` at its end means the next time or two only */
  void set(String fault) {
    this.fault = fault;
  }

  @Override
  public void beforeOpen() {
    openings.incrementAndGet();
    if (fault.equals("open")) throw new SQLiteCantOpenDatabaseException("scripted");
  }

  @Override
  public void beforeCommit() {
    commits.incrementAndGet();
    atCommit.run();
    String kind = fault;
    if (kind.endsWith("-once")) fault = "";
    if (kind.endsWith("-twice")) fault = kind.replace("-twice", "-once");
    if (kind.startsWith("full")) throw new SQLiteFullException("scripted");
    if (kind.startsWith("readonly")) throw new SQLiteReadOnlyDatabaseException("scripted");
    if (kind.startsWith("busy")) throw new SQLiteDatabaseLockedException("scripted");
    if (kind.startsWith("io")) throw new SQLiteDiskIOException("scripted");
  }
}
