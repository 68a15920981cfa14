import type { Bridge } from './bridge.ts'
import type { Clock } from './clock.ts'
import type { PageFacts } from './context.ts'
import type { Exec } from './native-bridge.ts'

/** Everything that the core is given of the world; src/entries makes it of a WebView or a page. */
export interface Host {
  readonly clock: Clock
  readonly platform: 'android' | 'ios' | 'browser'
  /** Absent without cordova.js, unless that is only late; calls back once the device is ready, at once if it is. */
  readonly onDeviceReady?: ((ready: () => void) => void) | undefined
  /** `cordova.exec`, once the device is ready. */
  exec(): Exec | undefined
  /** The engine of the page itself: in a browser without cordova.js, and where the native part is missing. */
  readonly webBridge: () => Bridge
  /** A UUIDv4 from a secure generator. */
  readonly nextId: () => string
  /** What the page's guard holds (browser/guard.ts), once this text is put there, if one is given. null where that is forbidden. */
  guard(text?: string): string | null
  print(level: number, line: string): void
  page(): PageFacts
  /** Calls back with the route there is now, and with each one that the app changes to. */
  watchRoutes(onRoute: (route: Route) => void): void
}

export interface Route {
  /** Hash route or pathname, without query and further fragment. */
  readonly path: string
  readonly title: string
}
