import com.segment.analytics.kotlin.core.Analytics
import kotlin.system.exitProcess
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put

fun main() {
  val host = System.getenv("URL").removePrefix("https://") + "/v1"
  val analytics = Analytics(System.getenv("KEY")) {
    application = "cinema"
    apiHost = host
    cdnHost = host
    flushAt = 50
    flushInterval = 1
  }
  when (System.getenv("SCENARIO")) {
    "kinds" -> {
      // Calls overtake each other inside the library.
      val calls = listOf(
        { analytics.identify("u-88", buildJsonObject { put("plan", "gold"); put("seats", 14) }) },
        { analytics.track("Seat Reserved", buildJsonObject { put("hall", "B"); put("price", 18.5) }) },
        { analytics.screen("Programme", buildJsonObject { put("day", "Friday") }) },
        { analytics.group("g-7", buildJsonObject { put("name", "Friends of film") }) },
        { analytics.alias("u-99") },
      )
      for (call in calls) {
        call()
        drain(analytics)
      }
    }
    "anonymous" -> analytics.track("Opened")
    else -> repeat(System.getenv("COUNT").toInt()) { n -> analytics.track("Counted", buildJsonObject { put("n", n) }) }
  }
  drain(analytics)
  exitProcess(0)
}

// Nothing tells when events have come to its store, so it must have been empty for a while.
fun drain(analytics: Analytics) {
  var quiet = 0
  repeat(150) {
    if (quiet == 15) return
    analytics.flush()
    Thread.sleep(100)
    quiet = if (analytics.pendingUploads().isEmpty()) quiet + 1 else 0
  }
}
