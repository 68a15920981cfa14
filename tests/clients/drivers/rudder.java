import com.rudderstack.sdk.java.analytics.RudderAnalytics;
import com.rudderstack.sdk.java.analytics.Callback;
import com.rudderstack.sdk.java.analytics.messages.*;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

public class Main {
  // Its threads outlive shutdown() by minutes: a program that ends sooner waits until each event has its outcome.
  record Outcomes(CountDownLatch waiting) implements Callback {
    public void success(Message message) {
      waiting.countDown();
    }

    public void failure(Message message, Throwable error) {
      waiting.countDown();
    }
  }

  public static void main(String[] arguments) throws InterruptedException {
    int count = Integer.parseInt(System.getenv("COUNT"));
    int expected = Map.of("kinds", 6, "anonymous", 1).getOrDefault(System.getenv("SCENARIO"), count);
    Outcomes outcomes = new Outcomes(new CountDownLatch(expected));
    RudderAnalytics analytics = RudderAnalytics.builder(System.getenv("KEY")).setDataPlaneUrl(System.getenv("URL")).callback(outcomes).build();
    switch (System.getenv("SCENARIO")) {
      case "kinds" -> {
        analytics.enqueue(IdentifyMessage.builder().userId("u-88").traits(Map.of("plan", "gold", "seats", 14)));
        analytics.enqueue(TrackMessage.builder("Seat Reserved").userId("u-88").properties(Map.of("hall", "B", "price", 18.5)));
        analytics.enqueue(PageMessage.builder("Seats").userId("u-88").properties(Map.of("path", "/seats")));
        analytics.enqueue(ScreenMessage.builder("Programme").userId("u-88").properties(Map.of("day", "Friday")));
        analytics.enqueue(GroupMessage.builder("g-7").userId("u-88").traits(Map.of("name", "Friends of film")));
        analytics.enqueue(AliasMessage.builder("u-77").userId("u-88"));
      }
      case "anonymous" -> analytics.enqueue(TrackMessage.builder("Opened").anonymousId("a-5"));
      default -> {
        for (int n = 0; n < count; n++) {
          analytics.enqueue(TrackMessage.builder("Counted").userId("u-88").properties(Map.of("n", n)));
        }
      }
    }
    analytics.flush();
    outcomes.waiting().await();
    analytics.shutdown();
    System.exit(0);
  }
}
