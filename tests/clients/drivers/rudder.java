import com.rudderstack.sdk.java.analytics.RudderAnalytics;
import com.rudderstack.sdk.java.analytics.messages.*;
import java.util.Map;

public class Main {
  public static void main(String[] arguments) {
    RudderAnalytics analytics = RudderAnalytics.builder(System.getenv("KEY")).setDataPlaneUrl(System.getenv("URL")).build();
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
        int count = Integer.parseInt(System.getenv("COUNT"));
        for (int n = 0; n < count; n++) {
          analytics.enqueue(TrackMessage.builder("Counted").userId("u-88").properties(Map.of("n", n)));
        }
      }
    }
    analytics.flush();
    analytics.shutdown();
  }
}
