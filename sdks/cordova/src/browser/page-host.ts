import type { Clock } from '../core/clock.ts'
import type { Host } from '../core/host.ts'
import type { Exec } from '../core/native-bridge.ts'
import { pageEngine } from './page-engine.ts'
import { watchRoutes } from './routes.ts'
import type { WebEngine } from './web-engine.ts'

/** The part of cordova.js that is used; absent on Capacitor web and in a plain page. */
interface Cordova {
  readonly platformId?: string
  readonly platformVersion?: string
  readonly exec?: Exec
}

/** The world of the core in a WebView or a page. */
export function pageHost(): Host {
  const cordova = (): Cordova => (globalThis as { cordova?: Cordova }).cordova || {}
  const platform = () => {
    const { platformId } = cordova()
    return platformId === 'android' || platformId === 'ios' ? platformId : 'browser'
  }
  let engine: WebEngine | undefined
  return {
    clock: pageClock,
    get platform() {
      return platform()
    },
    get onDeviceReady() {
      return 'cordova' in globalThis
        ? (ready: () => void) => document.addEventListener('deviceready', ready, false)
        : undefined
    },
    // On the browser platform the engine is the page's own.
    exec: () => (platform() === 'browser' ? undefined : cordova().exec),
    webBridge: () => {
      engine = engine || pageEngine(pageClock, cordova().platformVersion)
      return engine
    },
    randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
    print,
    page: () => ({
      language: navigator.language,
      timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      userAgent: navigator.userAgent,
    }),
    watchRoutes,
  }
}

const pageClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs)
    return () => clearTimeout(timer)
  },
}

function print(level: number, line: string): void {
  const { error, warn, info, log } = console
  const method = [error, error, warn, info][level] || log
  method(line)
}
