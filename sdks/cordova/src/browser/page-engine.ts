import type { ContextFacts } from '../core/bridge.ts'
import type { Clock } from '../core/clock.ts'
import { uuidOf } from '../core/uuid.ts'
import { NAME, openIndexedDatabase } from './indexed-database.ts'
import { newReachability } from './reachability.ts'
import { type DrainLock, type Tabs, type WebEngine, webEngine } from './web-engine.ts'

const LOCK = `${NAME}.drain`

/** The engine over what a browser gives, listening to the page. */
export function pageEngine(clock: Clock, platformVersion: string | undefined): WebEngine {
  const isOnline = () => navigator.onLine !== false
  const reachability = newReachability(clock, isOnline, (level, text) => engine.tell(level, text))
  const { locks } = navigator as { locks?: LockManager }
  const engine = webEngine({
    openDatabase: (onMissing) => openIndexedDatabase(clock.after, onMissing),
    guardStorage: () => localStorage,
    fetch: (url, init) => fetch(url, init),
    clock,
    random: Math.random,
    newId: () => uuidOf(crypto.getRandomValues(new Uint8Array(16))),
    gzip: typeof CompressionStream === 'function' ? gzip : undefined,
    locks: locks && drainLock(locks, clock),
    tabs: typeof BroadcastChannel === 'function' ? tabsOf(new BroadcastChannel(NAME)) : undefined,
    whyNoAnswer: reachability.why,
    onAnswer: reachability.answered,
    context: contextFacts,
    isForeground: () => !document.hidden,
    platformVersion,
  })
  const visibilityChanged = () => (document.hidden ? engine.left() : engine.entered())
  document.addEventListener('visibilitychange', visibilityChanged)
  addEventListener('pagehide', engine.left)
  addEventListener('pageshow', ({ persisted }) => persisted && engine.entered())
  for (const type of ['online', 'offline', 'orientationchange']) {
    addEventListener(type, () => engine.changed(isOnline()))
  }
  document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => {
    if (effectiveDirective.startsWith('connect-src')) reachability.violated(blockedURI)
  })
  // Asked once; whatever the browser decides, we go on.
  const { storage } = navigator as { storage?: StorageManager }
  if (storage && typeof storage.persist === 'function') storage.persist().catch(() => {})
  return engine
}

function contextFacts(): ContextFacts {
  const { width, height } = screen
  const { type } = (navigator as { connection?: { type?: string } }).connection || {}
  return {
    screen: { density: devicePixelRatio, height, width },
    network: type === undefined ? undefined : { cellular: type === 'cellular', wifi: type === 'wifi' },
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
