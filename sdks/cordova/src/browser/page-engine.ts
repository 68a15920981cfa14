import type { ContextFacts } from '../core/bridge.ts'
import type { Clock } from '../core/clock.ts'
import { guardText } from './guard.ts'
import { NAME, openIndexedDatabase } from './indexed-database.ts'
import { newReachability } from './reachability.ts'
import { type TabLocks, type Tabs, type WebEngine, webEngine } from './web-engine.ts'

/** The engine over what a browser gives, listening to the page. */
export function pageEngine(clock: Clock, nextId: () => string, platformVersion: string | undefined): WebEngine {
  const isOnline = () => navigator.onLine !== false
  const reachability = newReachability(clock, isOnline, (level, text) => engine.tell(level, text))
  const { locks } = navigator as { locks?: LockManager }
  const engine = webEngine({
    openDatabase: (onMissing) => openIndexedDatabase(clock.after, onMissing),
    guardText,
    fetch: (url, init) => fetch(url, init),
    clock,
    random: Math.random,
    nextId,
    gzip: typeof CompressionStream === 'function' ? gzip : undefined,
    locks: locks && tabLocks(locks, clock),
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
  if (storage && 'persist' in storage) storage.persist().catch(() => undefined)
  return engine
}

function contextFacts(): ContextFacts {
  const { width, height } = screen
  const { type } = (navigator as { connection?: { type?: string } }).connection || {}
  return {
    screen: { density: devicePixelRatio, height, width },
    network: type && { cellular: type === 'cellular', wifi: type === 'wifi' },
  }
}

export async function gzip(text: string): Promise<Uint8Array<ArrayBuffer>> {
  const compressed = new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'))
  return new Uint8Array(await new Response(compressed).arrayBuffer())
}

function tabLocks(locks: LockManager, clock: Clock): TabLocks {
  return {
    async hold<T>(lock: string, waitMs: number, work: () => Promise<T>) {
      const controller = new AbortController()
      const cancel = clock.after(waitMs, () => controller.abort())
      const how = waitMs ? { signal: controller.signal } : { ifAvailable: true }
      let working: Promise<T> | undefined
      const request = locks.request(`${NAME}.${lock}`, how, (held) => {
        cancel()
        if (held) working = work()
        return working
      })
      // It fails when the wait is over, or as the work fails.
      await request.catch(() => undefined)
      return working
    },
  }
}

function tabsOf(channel: BroadcastChannel): Tabs {
  return {
    tell: (told) => channel.postMessage(told),
    onTold: (hear) => {
      channel.onmessage = ({ data }) => hear(data)
    },
  }
}
