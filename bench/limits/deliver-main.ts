import { Pool } from 'undici'
import { accept } from './accept.ts'

// node deliver-main.ts <database file> <webhook URL>: the limit of P3. Accepts batches and posts each event.

const CONNECTIONS = 64
const headers = { 'content-type': 'application/json' }

const { origin, pathname: path } = new URL(process.argv[3]!)
const pool = new Pool(origin, { connections: CONNECTIONS })
let queue: unknown[] = []
let taken = 0
let inProgress = 0

accept(process.argv[2]!, (value) => {
  for (const event of (value as { batch: unknown[] }).batch) queue.push(event)
  postNext()
})

function postNext(): void {
  while (inProgress < CONNECTIONS && taken < queue.length) void post(queue[taken++])
  if (taken < queue.length) return
  queue = []
  taken = 0
}

async function post(event: unknown): Promise<void> {
  inProgress++
  const { body } = await pool.request({ method: 'POST', path, headers, body: JSON.stringify(event) })
  await body.dump()
  inProgress--
  postNext()
}
