package org.millrace.cordova;

import android.database.sqlite.SQLiteAccessPermException;
import android.database.sqlite.SQLiteCantOpenDatabaseException;
import android.database.sqlite.SQLiteDatabaseCorruptException;
import android.database.sqlite.SQLiteDatabaseLockedException;
import android.database.sqlite.SQLiteFullException;
import android.database.sqlite.SQLiteReadOnlyDatabaseException;
import android.database.sqlite.SQLiteTableLockedException;

/**
 * The kinds of failure that differ in what is done about them.
 *
 * @see "contracts/cordova-sdk.md §21"
 */
enum StorageFailure {
  CANNOT_OPEN("STORAGE_OPEN"),
  READ_ONLY("STORAGE_READONLY"),
  FULL("STORAGE_FULL"),
  BUSY("STORAGE_BUSY"),
  CORRUPT("STORAGE_CORRUPT"),
  NO_TABLE("STORAGE_CORRUPT"),
  NEWER("STORAGE_NEWER"),
  IO("STORAGE_IO");

  final String code;

  StorageFailure(String code) {
    this.code = code;
  }

  /** Thrown when the file was written by a later version of the SDK. */
  static final class NewerVersionException extends RuntimeException {
    private static final long serialVersionUID = 1;

    NewerVersionException(int version) {
      super("user_version " + version);
    }
  }

  /** SQLITE_NOTADB arrives as SQLiteDatabaseCorruptException; what has no class of its own counts as an I/O error. */
  static StorageFailure of(RuntimeException thrown) {
    if (thrown instanceof NewerVersionException) return NEWER;
    if (thrown instanceof SQLiteDatabaseCorruptException) return CORRUPT;
    if (thrown instanceof SQLiteReadOnlyDatabaseException) return READ_ONLY;
    if (thrown instanceof SQLiteFullException) return FULL;
    if (thrown instanceof SQLiteDatabaseLockedException || thrown instanceof SQLiteTableLockedException) return BUSY;
    if (thrown instanceof SQLiteCantOpenDatabaseException || thrown instanceof SQLiteAccessPermException) return CANNOT_OPEN;
    if (String.valueOf(thrown.getMessage()).contains("no such table")) return NO_TABLE;
    return IO;
  }
}
