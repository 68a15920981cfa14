import type { Clock } from '@millrace/std'
import type { TransformFetch } from '../fetch.ts'
import type { RunMessage, SettledMessage } from '../messages.ts'
import type { Asked, Child } from './child.ts'
import { RunNetwork } from './run-network.ts'
import type { Worker } from './worker.ts'

/** A run begins again when its child was lost over somebody else's code; this often, and then it is lost as well. */
const MAX_BEGINNINGS = 10

export interface RunInWorker {
  readonly worker: Worker
  /** All but what depends on the moment. */
  readonly message: Omit<RunMessage, 'remainingMs' | 'code' | 'credentials'>
  /** What the child may lack. */
  readonly supplies: Required<Pick<RunMessage, 'code' | 'credentials'>>
  readonly wallMs: number
  readonly fetch: TransformFetch | undefined
  readonly clock: Clock
  readonly signal: AbortSignal
}

export type RunEnd = SettledMessage | Extract<Asked, { kind: 'lost' }>

/** One run from its first turn to its end, with what it asks of the network in between. */
export async function runInWorker(options: RunInWorker): Promise<RunEnd> {
  for (let beginnings = 0; beginnings < MAX_BEGINNINGS; beginnings++) {
    const end = await attempt(options)
    if (end !== 'began in a lost child') return end
  }
  return { kind: 'lost', trouble: 'sandbox lost', isOwnFault: false }
}

async function attempt(options: RunInWorker): Promise<RunEnd | 'began in a lost child'> {
  const { worker, message, wallMs, clock, signal } = options
  const { key } = message
  await worker.turns.next()
  if (signal.aborted) {
    worker.turns.done()
    return { kind: 'lost', trouble: 'sandbox lost', isOwnFault: false }
  }
  const child = worker.child()
  let asked = await begin(child, options).finally(() => worker.turns.done())
  if (asked.kind !== 'waits') return endOf(asked)

  const deadline = clock.monotonic() + wallMs
  using network = new RunNetwork(options.fetch, signal)
  while (asked.kind === 'waits') {
    network.begin(asked.fetches)
    const answers = await network.answers(clock, deadline - clock.monotonic())
    if (child.hasEnded) return 'began in a lost child'
    if (answers === undefined) {
      worker.tell({ kind: 'close', key })
      return { kind: 'lost', trouble: 'timed out', isOwnFault: true }
    }
    await worker.turns.next()
    try {
      if (child.hasEnded) return 'began in a lost child'
      asked = await child.ask({ kind: 'answers', key, answers, remainingMs: deadline - clock.monotonic() })
    } finally {
      worker.turns.done()
    }
  }
  return endOf(asked)
}

async function begin(child: Child, { message, supplies, wallMs: remainingMs }: RunInWorker): Promise<Asked> {
  const asked = await child.ask({ ...message, ...(message.isFresh ? supplies : {}), remainingMs })
  if (asked.kind !== 'needs') return asked
  const code = asked.code ? { code: supplies.code } : {}
  const credentials = asked.credentials ? { credentials: supplies.credentials } : {}
  return child.ask({ ...message, ...code, ...credentials, remainingMs })
}

function endOf(asked: Asked): RunEnd {
  if (asked.kind === 'settled' || asked.kind === 'lost') return asked
  throw new Error(`a child replied to a run with ${asked.kind}`)
}
