import { Pool } from 'undici'
import { accept } from './accept.ts'

// node deliver-main.ts <database file> <webhook URL> [<events per request>]: the limit of P3, and with more than one event per
// request of P19. Accepts batches and posts what waits: as soon as a request is full, or no other is in progress.

const CONNECTIONS = 64
const headers = { 'content-type': 'application/json' }

const { origin, pathname: path } = new URL(process.argv[3]!)
const perRequest = Number(process.argv[4] ?? 1)
const pool = new Pool(origin, { connections: CONNECTIONS })
let queue: unknown[] = []
let taken = 0
let inProgress = 0

accept(process.argv[2]!, (value) => {
  for (const event of (value as { batch: unknown[] }).batch) queue.push(event)
  postNext()
})

function postNext(): void {
  while (inProgress < CONNECTIONS && taken < queue.length && (inProgress === 0 || queue.length - taken >= perRequest)) {
    void post(perRequest === 1 ? queue[taken] : queue.slice(taken, taken + perRequest))
    taken += perRequest
  }
  if (taken < queue.length) return
  queue = []
  taken = 0
}

async function post(body: unknown): Promise<void> {
  inProgress++
  const answer = await pool.request({ method: 'POST', path, headers, body: JSON.stringify(body) })
  await answer.body.dump()
  inProgress--
  postNext()
}
