import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { randomFrom } from '@millrace/std'
import { takeAllDisksAway } from './machine.ts'
import { endAllProducts, Product } from './product.ts'
import type { Program, Run, Size } from './program.ts'

/** After a program is given up, for what it opened. */
const CLOSING_MS = 10_000
const ASK_AGAIN_MS = 20
/** Of what broke, each once. */
const MAX_TOLD = 8

export interface Result {
  readonly verdict: 'held' | 'BROKEN' | 'skipped'
  /** `R1 held   200 kills, …, 0 lost (seed 123, 612 s)` */
  readonly line: string
}

export interface CarryOutOptions {
  readonly size: Size
  readonly seed: number
  /** Delivery threads of the product; those of the program unless given. */
  readonly threads?: number | undefined
  readonly say: (what: string) => void
}

/** Runs a program within its time. Never rejects: whatever it throws is what broke. */
export async function carryOut(program: Program, options: CarryOutOptions): Promise<Result> {
  const { size, seed, say, threads = program.threads ?? 1 } = options
  const { id, limitSeconds } = program
  const reason = program.cannotRun?.()
  if (reason !== undefined) return { verdict: 'skipped', line: `${id} skipped ${reason}` }
  const startedAt = performance.now()
  const broken: string[] = []
  const over = new AbortController()
  await using folder = await mkdtempDisposable(join(tmpdir(), `millrace-chaos-${id.toLowerCase()}-`))
  Product.deliveryThreads = threads
  const run = newRun({ size, seed, say, folder: folder.path, signal: over.signal, broken })
  const running = program.run(run).catch((error: Error) => {
    broken.push(error.message)
    return []
  })
  const limit = delay(limitSeconds[size] * 1_000, undefined, { signal: over.signal }).catch(() => undefined)
  const facts = await Promise.race([running, limit])
  if (facts === undefined) broken.unshift(`not over within ${limitSeconds[size]} s`)
  over.abort()
  endAllProducts()
  await Promise.race([running, delay(CLOSING_MS, undefined, { ref: false })])
  takeAllDisksAway()
  const took = Math.round((performance.now() - startedAt) / 1_000)
  const of = threads === 1 ? '' : `${threads} threads, `
  const verdict = broken.length === 0 ? 'held' : 'BROKEN'
  const texts = [...broken.map((each) => each.split('\n')[0]), facts?.join(', ') ?? ''].filter((text) => text !== '')
  return { verdict, line: `${id.padEnd(3)} ${verdict.padEnd(6)} ${texts.join('; ')} (seed ${seed}, ${of}${took} s)` }
}

type Given = CarryOutOptions & Pick<Run, 'folder' | 'signal'> & { readonly broken: string[] }

function newRun({ size, seed, say, folder, signal, broken }: Given): Run {
  const check = (holds: boolean, whatBroke: string) => {
    if (!holds && !signal.aborted && broken.length < MAX_TOLD && !broken.includes(whatBroke)) broken.push(whatBroke)
  }
  return {
    size,
    pick: (of) => of[size],
    random: randomFrom(seed),
    folder,
    signal,
    say,
    check,
    async eventually(holds, ms, whatBroke) {
      for (const end = performance.now() + ms; ; await delay(ASK_AGAIN_MS)) {
        if (await holds()) return true
        if (performance.now() <= end && !signal.aborted) continue
        check(false, whatBroke())
        return false
      }
    },
  }
}
