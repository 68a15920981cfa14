import { setTimeout as delay } from 'node:timers/promises'
import type { Program } from '../programs.ts'
import { headersOf, signIn } from './session.ts'

/*
 * People who have the dashboard open, without their browsers, whose work would be on the same cores: each looks at Events,
 * which is the stream of new ones, and has Home open in another tab.
 */

interface Poll {
  readonly path: () => string
  readonly everyMs: number
}

/** What an open Home asks for (apps/dashboard/src/pages/home). */
const HOME: readonly Poll[] = [
  { path: () => stats(300), everyMs: 5_000 },
  { path: () => '/v2/delivery?limit=500', everyMs: 5_000 },
  { path: () => '/health', everyMs: 30_000 },
  { path: () => stats(3_600), everyMs: 120_000 },
  { path: () => '/schemas/status', everyMs: 120_000 },
  { path: () => '/v2/admin/info', everyMs: 120_000 },
]
const STEP_SECONDS = 10

/** Lets people look at a product for as long as something runs. */
export type Watched = <T>(run: () => Promise<T>) => Promise<T>

/** Signs people in. What they look at throws an Error when they are answered anything but 200. */
export async function watchersOf(product: Program, people: number): Promise<Watched> {
  const headers = await Promise.all(Array.from({ length: people }, async () => headersOf(await signIn(product))))
  return async (run) => {
    const ending = new AbortController()
    const { signal } = ending
    const looking = Promise.all(
      headers.flatMap((each) => [
        until(signal, watchTail(`${product.url}/v2/tail`, each, signal)),
        ...HOME.map((poll) => until(signal, askAgain(product.url, poll, each, signal))),
      ]),
    )
    // Told at the end.
    looking.catch(() => {})
    try {
      return await run()
    } finally {
      ending.abort()
      await looking
    }
  }
}

async function watchTail(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<void> {
  const response = await opened(url, headers, signal)
  for await (const _ of response.body!);
  throw new Error(`${url} ended by itself`)
}

async function askAgain(
  origin: string,
  { path, everyMs }: Poll,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await (await opened(origin + path(), headers, signal)).arrayBuffer()
    await delay(everyMs, undefined, { signal })
  }
}

async function opened(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
  const response = await fetch(url, { headers, signal })
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`)
  return response
}

/** What it fails with once it was to end is nothing. */
async function until(signal: AbortSignal, work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

function stats(seconds: number): string {
  const step = STEP_SECONDS * 1_000
  const to = Math.floor(Date.now() / step) * step
  const [first, last] = [to - seconds * 1_000, to].map((at) => new Date(at).toISOString())
  return `/v2/stats?from=${first}&to=${last}&step=${STEP_SECONDS}`
}
