package org.millrace.cordova.broken;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.net.URLConnection;
import java.net.URLStreamHandler;

/**
 * An HTTP stack that throws Errors, as some phones have it, for addresses of the scheme `broken`. The host says where:
 * `broken://opening` when a connection is made, `broken://headers` when the headers of its answer, a 503, are read.
 */
public final class Handler extends URLStreamHandler {
  /** From now on `new URL("broken://…")` comes here. */
  public static void install() {
    System.setProperty("java.protocol.handler.pkgs", "org.millrace.cordova");
  }

  @Override
  protected URLConnection openConnection(URL url) {
    if (url.getHost().equals("opening")) throw new AssertionError("the TLS stack is broken");
    return new BrokenHeaders(url);
  }

  private static final class BrokenHeaders extends HttpURLConnection {
    private BrokenHeaders(URL url) {
      super(url);
    }

    @Override
    public int getResponseCode() {
      return 503;
    }

    @Override
    public String getHeaderField(String name) {
      throw new NoClassDefFoundError("the headers are broken");
    }

    @Override
    public OutputStream getOutputStream() {
      return new ByteArrayOutputStream();
    }

    @Override
    public void connect() {}

    @Override
    public void disconnect() {}

    @Override
    public boolean usingProxy() {
      return false;
    }
  }
}
