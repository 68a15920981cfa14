import { setTimeout as delay } from 'node:timers/promises'
import { Chromium } from '../../tests/sdk/chromium.ts'
import { Collector } from './collector.ts'
import type { Bundle } from './peers.ts'

/*
 * What a phone or a laptop goes through, in a real Chromium. Each fault records the same events with each client; what counts is
 * how many of them the collector has taken once the trouble is over and the page was opened again.
 */

/** Recorded in each fault. */
export const EVENTS = 50

/** A client that has asked for nothing in this time is done: it is longer than the first waits of any of them. */
const IDLE_MS = 30_000
/** For one that is never idle. */
const MAX_MS = 300_000
const LOOK_AGAIN_MS = 100

export interface Fault {
  readonly name: string
  /** Leaves behind what it did to the collector. */
  readonly happen: (stage: Stage) => Promise<void>
}

export interface Outcome {
  readonly lost: number
  readonly repeated: number
}

export const FAULTS: readonly Fault[] = [
  {
    // What a client loses here the collector has not understood.
    name: 'no trouble',
    async happen(stage) {
      await stage.start()
      await stage.record()
    },
  },
  {
    name: 'no network, and the page is left',
    async happen(stage) {
      await stage.start()
      await stage.offline(true)
      await stage.record()
      await stage.leave()
      await stage.offline(false)
    },
  },
  {
    name: 'no network, and five seconds later the browser is killed',
    async happen(stage) {
      await stage.start()
      await stage.offline(true)
      await stage.record()
      await delay(5_000)
      await stage.kill()
    },
  },
  {
    name: 'the browser is killed right after the last call',
    async happen(stage) {
      await stage.start()
      await stage.record()
      await stage.kill()
    },
  },
  {
    name: 'the page is left right after the last call',
    async happen(stage) {
      await stage.start()
      await stage.record()
      await stage.leave()
    },
  },
  {
    // The server has read the first requests and not answered them; what a client sends one after another still waits in it.
    name: 'the page is left while events are pending',
    async happen(stage) {
      stage.collector.mood = 'answers-late'
      await stage.start()
      await stage.record()
      await delay(3_000)
      await stage.leave()
      stage.collector.mood = 'takes'
    },
  },
  {
    name: 'the server answers 503, and the page is left',
    async happen(stage) {
      stage.collector.mood = 'is-unavailable'
      await stage.start()
      await stage.record()
      await delay(3_000)
      await stage.leave()
      stage.collector.mood = 'takes'
    },
  },
  {
    name: 'the connection breaks after the server has read',
    async happen(stage) {
      stage.collector.mood = 'hangs-up-after-reading'
      await stage.start()
      await stage.record()
      await delay(3_000)
      stage.collector.mood = 'takes'
    },
  },
]

let runs = 0

/** Lets a fault happen to a client, and opens its page once more afterwards. @returns what it comes to, once the client is idle. */
export async function suffer(fault: Fault, bundle: Bundle): Promise<() => Promise<Outcome>> {
  const collector = await Collector.open()
  collector.page = `<!doctype html><meta charset="utf-8"><title>Shop</title><script>${bundle.text.replaceAll('</', '<\\/')}</script>`
  const stage = await Stage.open(collector, ++runs)
  await fault.happen(stage)
  await stage.again()
  const outcome = isIdle(collector).then(async () => {
    await stage[Symbol.asyncDispose]()
    await collector[Symbol.asyncDispose]()
    const repeated = [...collector.taken.values()].reduce((sum, times) => sum + times - 1, 0)
    return { lost: EVENTS - collector.taken.size, repeated }
  })
  return () => outcome
}

async function isIdle(collector: Collector): Promise<void> {
  const from = performance.now()
  while (performance.now() < Math.min(from + MAX_MS, Math.max(from, collector.lastRequestAt) + IDLE_MS)) {
    await delay(LOOK_AGAIN_MS)
  }
}

/** A browser with the page of one client. */
export class Stage implements AsyncDisposable {
  readonly collector: Collector
  private readonly run: number
  private chromium: Chromium

  static async open(collector: Collector, run: number): Promise<Stage> {
    return new Stage(await Chromium.open(), collector, run)
  }

  private constructor(chromium: Chromium, collector: Collector, run: number) {
    this.chromium = chromium
    this.collector = collector
    this.run = run
  }

  /** Opens the page and starts its client, as an app does. */
  async start(): Promise<void> {
    const page = await this.chromium.page(this.collector.url)
    await page.evaluate(`(async () => { await peer.start('${this.collector.url}') })()`)
  }

  async record(): Promise<void> {
    const page = this.chromium.context.pages().at(-1)!
    await page.evaluate(
      `void (() => { for (let at = 1; at <= ${EVENTS}; at++) peer.track('Event ' + at + ' of run ${this.run}') })()`,
    )
  }

  async offline(is: boolean): Promise<void> {
    await this.chromium.context.setOffline(is)
  }

  async leave(): Promise<void> {
    await this.chromium.context.pages().at(-1)!.goto('about:blank')
  }

  async kill(): Promise<void> {
    await this.chromium.kill()
    this.chromium = await Chromium.open(this.chromium.profile)
  }

  /** The user comes back: the page is opened, its client started, and something recorded, as some clients send only then. */
  async again(): Promise<void> {
    await this.start()
    await this.chromium.context.pages().at(-1)!.evaluate("void peer.track('Back')")
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.chromium[Symbol.asyncDispose]()
  }
}
