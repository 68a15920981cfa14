package org.millrace.cordova;

import org.junit.runner.Description;
import org.junit.runner.JUnitCore;
import org.junit.runner.notification.Failure;
import org.junit.runner.notification.RunListener;

/** Runs the classes that it is given and prints a line for each test: `passed` or `failed`, class, name, and trace. */
public final class Results extends RunListener {
  private String trace;

  public static void main(String[] classes) throws Exception {
    JUnitCore runner = new JUnitCore();
    runner.addListener(new Results());
    for (String each : classes) runner.run(Class.forName(each));
    // The threads of the sandbox would keep the process alive.
    System.exit(0);
  }

  @Override
  public void testStarted(Description test) {
    trace = null;
  }

  @Override
  public void testFailure(Failure failure) {
    trace = failure.getTrace();
    // A class that cannot be set up fails without having started.
    if (failure.getDescription().getMethodName() == null || failure.getDescription().getMethodName().equals("initializationError")) {
      testFinished(failure.getDescription());
    }
  }

  @Override
  public void testFinished(Description test) {
    String[] fields = {trace == null ? "passed" : "failed", test.getClassName(), String.valueOf(test.getMethodName()), trace};
    StringBuilder line = new StringBuilder("\nRESULT");
    for (String field : fields) line.append('\t').append(field == null ? "" : field.replace("\t", "  ").replace("\n", "\\n"));
    System.out.println(line);
  }
}
