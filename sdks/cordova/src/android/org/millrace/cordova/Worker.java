package org.millrace.cordova;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** One thread that does what it is given, in order. What it runs may throw: nothing of ours may end the app. */
final class Worker {
  /** That may wait before calls of the page are refused. */
  private static final int WAITING = 10_000;

  /** Urgent ones that may wait beyond those. */
  private static final int WAITING_URGENTLY = 1_000;

  private final ThreadPoolExecutor executor;
  private final Failures failures;
  private volatile Thread thread;

  /** Hears what was thrown and nobody caught. */
  interface Failures {
    void threw(Throwable failure);
  }

  Worker(String name, Failures failures) {
    this.failures = failures;
    executor =
        new ThreadPoolExecutor(
            1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<Runnable>(), task -> {
          Thread made = new Thread(task, name);
          made.setDaemon(true);
          thread = made;
          return made;
        });
  }

  /** For signals of the system and for our own work, which is little and must not be lost: never refused, never thrown at its caller. */
  void post(Runnable task) {
    try {
      executor.execute(() -> guarded(task));
    } catch (RejectedExecutionException ended) {
      failures.threw(ended);
    }
  }

  /** For calls of the page, of which there may be any number. @return false when too many wait */
  boolean offer(boolean isUrgent, Runnable task) {
    if (executor.getQueue().size() >= WAITING + (isUrgent ? WAITING_URGENTLY : 0)) return false;
    post(task);
    return true;
  }

  /** Runs it here and waits for the result; must not be called by this thread itself. */
  <T> T call(Callable<T> task) throws InterruptedException {
    Future<T> result = executor.submit(task);
    try {
      return result.get();
    } catch (ExecutionException failure) {
      throw new IllegalStateException(failure.getCause());
    }
  }

  /** A blocking read or write on any other thread, above all the main one, is a mistake of ours. */
  void mustBeCurrent() {
    if (Thread.currentThread() != thread) throw new IllegalStateException("storage is for the worker thread alone");
  }

  /** Ends the thread; what waits is dropped. */
  void end() throws InterruptedException {
    executor.shutdownNow();
    executor.awaitTermination(10, TimeUnit.SECONDS);
  }

  private void guarded(Runnable task) {
    try {
      task.run();
    } catch (Throwable failure) {
      failures.threw(failure);
    }
  }
}
