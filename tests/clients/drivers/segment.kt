import com.segment.analytics.kotlin.core.Analytics
import com.segment.analytics.kotlin.core.BaseEvent
import com.segment.analytics.kotlin.core.platform.Plugin
import java.util.concurrent.atomic.AtomicInteger
import kotlin.system.exitProcess
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put

val processed = AtomicInteger()

object Counter : Plugin {
  override val type = Plugin.Type.After
  override lateinit var analytics: Analytics
  override fun execute(event: BaseEvent): BaseEvent? = event.also { processed.incrementAndGet() }
}

fun main() {
  val host = System.getenv("URL").removePrefix("https://") + "/v1"
  val analytics = Analytics(System.getenv("KEY")) {
    application = "cinema"
    apiHost = host
    cdnHost = host
    flushAt = 50
    flushInterval = 1
  }
  analytics.add(Counter)
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
      calls.forEachIndexed { i, call ->
        call()
        drain(analytics, i + 1)
      }
    }
    "anonymous" -> {
      analytics.track("Opened")
      drain(analytics, 1)
    }
    else -> {
      val count = System.getenv("COUNT").toInt()
      repeat(count) { n -> analytics.track("Counted", buildJsonObject { put("n", n) }) }
      drain(analytics, count)
    }
  }
  exitProcess(0)
}

// Nothing tells when an event that was processed has come to its store, so that must have been empty for a while.
fun drain(analytics: Analytics, events: Int) {
  var quiet = 0
  repeat(150) {
    if (quiet == 15) return
    analytics.flush()
    Thread.sleep(100)
    quiet = if (processed.get() >= events && analytics.pendingUploads().isEmpty()) quiet + 1 else 0
  }
}
