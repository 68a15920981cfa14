import process from 'node:process'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { CapturedRequest, GuestRun, MappingEnd, ToGuest, ToHost } from '../messages.ts'
import { closeEverything } from './closing.ts'
import { currentRun, DefinitionRun, type GuestAnswer, NoAnswerError } from './guest-run.ts'

/** Runs what the host asks for. */
interface Runs {
  run(message: GuestRun, code: DefinitionRun): Promise<MappingEnd[]>
}

const { packagesFolder } = workerData as { packagesFolder: string }
const port: MessagePort = parentPort!
const outgoing: ToHost[] = []
const { setImmediate } = globalThis
const onBlocked = (what: string) => post({ t: 'blocked', slug: currentRun.getStore()?.slug ?? '', what })

interface WaitingRequest {
  resolve(answer: GuestAnswer): void
  reject(error: Error): void
}

/** Requests that wait for their answer, by run and number. */
const waiting = new Map<number, Map<number, WaitingRequest>>()

let runs: Runs

/** Closes the thread, loads the code, and serves the host from then on. */
export function serve(load: (onBlocked: (what: string) => void) => Runs): void {
  closeEverything(packagesFolder, onBlocked)
  runTimersAtOnceInDryRuns()
  // What code throws after its run has ended costs nobody else.
  process.on('unhandledRejection', () => {})
  process.on('uncaughtException', () => {})
  runs = load(onBlocked)
  port.on('message', (messages: readonly ToGuest[]) => {
    for (const message of messages) take(message)
  })
  post({ t: 'ready' })
}

function post(message: ToHost): void {
  if (outgoing.push(message) === 1) setImmediate(() => port.postMessage(outgoing.splice(0)))
}

function take(message: ToGuest): void {
  switch (message.t) {
    case 'run':
      void run(message)
      return
    case 'answer':
      settled(message.run, message.seq)?.resolve(message)
      return
    case 'failure':
      settled(message.run, message.seq)?.reject(new NoAnswerError(message.text))
      return
    case 'cancel':
      for (const each of waiting.get(message.id)?.values() ?? []) each.reject(late())
      waiting.delete(message.id)
      return
    case 'ping':
      post({ t: 'pong' })
  }
}

async function run(message: GuestRun): Promise<void> {
  const { id, slug, kind } = message
  const requests = new Map<number, WaitingRequest>()
  waiting.set(id, requests)
  let seq = 0
  const send = (request: CapturedRequest) => {
    // The host would not answer, and code that waits would stay in memory.
    if (waiting.get(id) !== requests) return Promise.reject(late())
    const { promise, resolve, reject } = Promise.withResolvers<GuestAnswer>()
    requests.set(++seq, { resolve, reject })
    post({ t: 'request', run: id, seq, request })
    return promise
  }
  const code = new DefinitionRun(slug, kind === 'transform', send)
  const ends = await runs.run(message, code).catch((error: Error): MappingEnd[] => {
    return [{ mapping: 0, requests: [], thrown: { kind: 'code', text: error.message } }]
  })
  waiting.delete(id)
  post({ t: 'done', id, ends })
}

function late(): NoAnswerError {
  return new NoAnswerError('Timed out')
}

function settled(run: number, seq: number): WaitingRequest | undefined {
  const found = waiting.get(run)?.get(seq)
  waiting.get(run)?.delete(seq)
  return found
}

/** Some code waits between its requests for seconds, which a preview must not. */
function runTimersAtOnceInDryRuns(): void {
  const { setTimeout: original } = globalThis
  const atOnce = (work: (...given: unknown[]) => void, delayMs?: number, ...given: unknown[]) =>
    original(work, currentRun.getStore()?.isDry === true ? 0 : delayMs, ...given)
  globalThis.setTimeout = Object.assign(atOnce, original) as typeof setTimeout
}
