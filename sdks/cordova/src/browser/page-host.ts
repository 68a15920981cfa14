import type { Clock } from '../core/clock.ts'
import type { Host } from '../core/host.ts'
import type { Exec } from '../core/native-bridge.ts'
import { NATIVE } from '../core/source/connection.ts'
import { uuidOf } from '../core/text/uuid.ts'
import { guardText } from './guard.ts'
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
      // Where a native part has answered once, cordova.js comes; a bundler may load the app before it.
      return 'cordova' in globalThis || guard() === NATIVE
        ? (ready: () => void) => document.addEventListener('deviceready', ready, false)
        : undefined
    },
    // On the browser platform the engine is the page's own.
    exec: () => (platform() === 'browser' ? undefined : cordova().exec),
    webBridge: () => {
      engine = engine || pageEngine(pageClock, nextId, cordova().platformVersion)
      return engine
    },
    nextId,
    guard,
    print,
    page: () => ({
      language: navigator.language,
      timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      userAgent: navigator.userAgent,
    }),
    watchRoutes,
  }
}

function guard(text?: string): string | null {
  try {
    return guardText(text)
  } catch {
    // Some browsers throw when storage is switched off.
    return null
  }
}

const nextId = () => uuidOf(crypto.getRandomValues(new Uint8Array(16)))

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
