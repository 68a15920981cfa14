import type { ContextFacts } from '../core/bridge.ts'
import type { Clock } from '../core/clock.ts'
import { uuidOf } from '../core/uuid.ts'
import { openIndexedDbStore } from './indexed-db-store.ts'
import { Reachability } from './reachability.ts'
import { type DrainLock, type Tabs, WebEngine } from './web-engine.ts'

const LOCK = 'service-sdk-cordova.drain'
const CHANNEL = 'service-sdk-cordova'

/** The engine over what a browser gives, listening to the page. */
export function pageEngine(clock: Clock, platformVersion: string | undefined): WebEngine {
  let engine: WebEngine | undefined
  const reachability = new Reachability(
    clock,
    () => navigator.onLine !== false,
    (level, text) => engine?.tell(level, text),
  )
  const { locks } = navigator as { locks?: LockManager }
  engine = new WebEngine({
    openStore: () => openIndexedDbStore((delayMs, callback) => clock.after(delayMs, callback)),
    guardStorage: () => localStorage,
    fetch: (url, init) => fetch(url, init),
    clock,
    random: Math.random,
    newId: () => uuidOf(crypto.getRandomValues(new Uint8Array(16))),
    ...(typeof CompressionStream === 'function' && { gzip }),
    ...(locks && { locks: drainLock(locks, clock) }),
    ...(typeof BroadcastChannel === 'function' && { tabs: tabsOf(new BroadcastChannel(CHANNEL)) }),
    whyNoAnswer: (url) => reachability.why(url),
    onAnswer: () => reachability.answered(),
    context: contextFacts,
    isForeground: () => document.visibilityState !== 'hidden',
    ...(platformVersion !== undefined && { platformVersion }),
  })
  followPage(engine, reachability)
  // Asked once; whatever the browser decides, we go on.
  navigator.storage?.persist?.().catch(() => undefined)
  return engine
}

function followPage(engine: WebEngine, reachability: Reachability): void {
  const changed = () => (document.visibilityState === 'hidden' ? engine.stop() : engine.start())
  document.addEventListener('visibilitychange', changed)
  addEventListener('pagehide', () => engine.stop())
  addEventListener('pageshow', ({ persisted }) => persisted && engine.start())
  for (const type of ['online', 'offline', 'orientationchange']) {
    addEventListener(type, () => engine.network(navigator.onLine !== false))
  }
  document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => {
    if (effectiveDirective.startsWith('connect-src')) reachability.violated(blockedURI)
  })
}

function contextFacts(): ContextFacts {
  const { width, height } = screen
  const { connection } = navigator as { connection?: { type?: string } }
  const type = connection?.type
  return {
    screen: { density: devicePixelRatio, height, width },
    ...(type !== undefined && { network: { cellular: type === 'cellular', wifi: type === 'wifi' } }),
  }
}

export async function gzip(text: string): Promise<Uint8Array<ArrayBuffer>> {
  const compressed = new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'))
  return new Uint8Array(await new Response(compressed).arrayBuffer())
}

function drainLock(locks: LockManager, clock: Clock): DrainLock {
  return {
    async hold(waitMs, work) {
      if (waitMs === 0) return locks.request(LOCK, { ifAvailable: true }, (lock) => (lock ? work() : 'busy'))
      const controller = new AbortController()
      const cancel = clock.after(waitMs, () => controller.abort())
      let isHeld = false
      try {
        return await locks.request(LOCK, { signal: controller.signal }, () => {
          isHeld = true
          cancel()
          return work()
        })
      } catch (error) {
        if (isHeld) throw error
        return 'busy'
      }
    },
  }
}

function tabsOf(channel: BroadcastChannel): Tabs {
  return {
    tell: (changes) => channel.postMessage(changes),
    onTold: (hear) => {
      channel.onmessage = ({ data }) => hear(data)
    },
  }
}
