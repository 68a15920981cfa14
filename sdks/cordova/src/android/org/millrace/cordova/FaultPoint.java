package org.millrace.cordova;

/** Where storage can be made to fail: tests throw here what SQLite throws on devices that are full, worn or busy. */
interface FaultPoint {
  void beforeOpen();

  void beforeCommit();

  FaultPoint NONE =
      new FaultPoint() {
        @Override
        public void beforeOpen() {}

        @Override
        public void beforeCommit() {}
      };
}
