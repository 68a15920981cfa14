package org.millrace.cordova;

/** Drains of the engine, one after the other on a thread of their own, so that no call waits for the network. Worker thread only. */
final class Drains {
  /** That may wait for the one that runs; one more is answered BUSY. */
  private static final int WAITING = 100;

  private final EventSender sender;
  private final Worker worker;
  private final Worker sending;
  private final Worker.Failures failures;
  private int waiting;

  /** Hears on the worker thread how a drain ended. */
  interface End {
    /** @param result null when it failed */
    void ended(EventSender.Result result, Throwable failure);
  }

  Drains(EventSender sender, Worker worker, Worker.Failures failures) {
    this.sender = sender;
    this.worker = worker;
    this.failures = failures;
    sending = new Worker("ServiceClient-sending", failures);
  }

  boolean isFull() {
    return waiting >= WAITING;
  }

  /** @param settings those of the moment, which hold to its end */
  void start(Settings settings, boolean force, End end) {
    waiting++;
    sending.post(
        () -> {
          EventSender.Result result = null;
          Throwable failure = null;
          try {
            result = sender.drain(settings, force);
          } catch (Throwable thrown) {
            // Errors too: a drain that never ends would hold its caller, its place and the background job for ever.
            failure = thrown;
          }
          EventSender.Result ended = result;
          Throwable thrown = failure;
          worker.post(
              () -> {
                waiting--;
                if (thrown != null) failures.threw(thrown);
                end.ended(ended, thrown);
              });
        });
  }

  /** Ends the request in progress and the thread. Any thread. */
  void close() throws InterruptedException {
    sender.abort();
    sending.end();
  }
}
