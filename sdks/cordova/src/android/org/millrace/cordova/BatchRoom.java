package org.millrace.cordova;

/** How much still fits into one batch. The first row always does. */
final class BatchRoom {
  private final int bytesPerRow;
  private int rows;
  private long bytes;
  private boolean isEmpty = true;

  /** @param bytesPerRow what each row takes beyond its own size */
  BatchRoom(int rows, long bytes, int bytesPerRow) {
    this.rows = rows;
    this.bytes = bytes;
    this.bytesPerRow = bytesPerRow;
  }

  int rows() {
    return rows;
  }

  /** Once a row does not fit, none does: their order is kept. */
  boolean takes(int size) {
    boolean fits = rows > 0 && (isEmpty || bytes >= size + bytesPerRow);
    isEmpty = false;
    bytes -= size + bytesPerRow;
    rows = fits ? rows - 1 : 0;
    return fits;
  }
}
