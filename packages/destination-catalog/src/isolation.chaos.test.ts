import type { JsonObject } from '@millrace/protocol'
import { systemClock } from '@millrace/std'
import { afterAll, describe, expect, test } from 'vitest'
import { GuestPool, type GuestPoolOptions, type PooledEnd } from './host/guest-pool.ts'
import type { HostAnswer } from './host/guest-runs.ts'

/*
 * Code that does what the code of the packages must not: `guest/hostile-worker.ts` is the guest with an engine whose actions are
 * written for this test. The thread is closed by the same code.
 */

const OK: HostAnswer = { status: 200, statusText: '', headers: {}, body: '' }
const blocked: string[] = []
const options: GuestPoolOptions = {
  clock: systemClock,
  logger: { debug: () => {}, warn: () => {} },
  workers: 1,
  memoryMb: 64,
  packagesFolder: `${import.meta.dirname}/../../../node_modules`,
  program: new URL('./testing/hostile-worker.ts', import.meta.url),
  onBlocked: (_slug, what) => blocked.push(what),
}
const pool = new GuestPool(options)
afterAll(() => pool[Symbol.asyncDispose]())

function run(
  action: string,
  more: { pool?: GuestPool; slug?: string; destinationId?: string; send?: () => Promise<HostAnswer> } = {},
): Promise<PooledEnd> {
  const event: JsonObject = {}
  return (more.pool ?? pool).run({
    run: {
      kind: 'deliver',
      slug: more.slug ?? 'hostile',
      destinationId: more.destinationId ?? 'd-1',
      settings: {},
      mappings: [{ index: 0, action, base: 'none', mapping: {} }],
      events: [event],
    },
    deadlineMs: 30_000,
    send: more.send ?? (async () => OK),
    onLate: () => {},
  })
}

async function thrown(action: string): Promise<string> {
  const end = await run(action)
  return end.kind === 'ends' ? (end.ends[0]!.thrown?.text ?? 'nothing') : end.kind
}

describe('inside the worker', () => {
  test.each([
    ['socket', 'net.Socket.connect is closed to destinations of the catalog'],
    ['tls', 'tls.connect is closed to destinations of the catalog'],
    ['http', 'http.request is closed to destinations of the catalog'],
    ['https', 'https.get is closed to destinations of the catalog'],
    ['http2', 'http2.connect is closed to destinations of the catalog'],
    ['udp', 'dgram.createSocket is closed to destinations of the catalog'],
    ['dns', 'dns.lookup is closed to destinations of the catalog'],
    ['dnsPromise', 'dns.promises.resolve4 is closed to destinations of the catalog'],
    ['fetch', 'globalThis.fetch is closed to destinations of the catalog'],
    ['childProcess', 'child_process.execSync is closed to destinations of the catalog'],
    ['thread', 'worker_threads.Worker is closed to destinations of the catalog'],
    ['vm', 'vm.runInThisContext is closed to destinations of the catalog'],
    ['exit', 'process.exit is closed to destinations of the catalog'],
    ['writeFile', 'fs.writeFileSync is closed to destinations of the catalog'],
    ['openToWrite', 'fs.openSync is closed to destinations of the catalog'],
    ['readOutside', 'fs.readFileSync is closed to destinations of the catalog'],
    ['codeCache', 'module.enableCompileCache is closed to destinations of the catalog'],
    ['readPromise', 'fs.promises.readFile is closed to destinations of the catalog'],
  ])('%s is closed', async (action, text) => {
    expect(await thrown(action)).toBe(text)
    expect(blocked).toContain(text.split(' ')[0])
  })

  test('files of the packages can be read, the environment and the arguments are empty', async () => {
    expect(await thrown('readInside')).toBe('nothing')
    expect(await thrown('environment')).toBe('{} []')
  })
})

describe('bad code ends only its own run', () => {
  test('a thrown value that is no error', async () => {
    expect(await thrown('throwText')).toBe('just text')
    expect(await thrown('rejectLater')).toBe('nothing')
  })

  test('an endless loop: its thread ends, and another destination of the same thread is delivered', async () => {
    const sending = Promise.withResolvers<void>()
    const send = () => {
      sending.resolve()
      return new Promise<HostAnswer>(() => {})
    }
    const other = run('send', { destinationId: 'd-other', send })
    await sending.promise
    const loop = run('loop', { destinationId: 'd-loop' })
    expect((await loop).kind).toBe('lost')
    // What was sent may have arrived.
    expect((await other).kind).toBe('lost')
    expect((await run('send', { destinationId: 'd-other' })).kind).toBe('ends')
    // From now on it has a thread of its own.
    expect((await run('loop', { destinationId: 'd-loop' })).kind).toBe('crashed')
  }, 60_000)

  test('too much memory', async () => {
    expect((await run('memory', { destinationId: 'd-memory' })).kind).toBe('lost')
    expect((await run('send')).kind).toBe('ends')
  }, 60_000)

  test('a run past its deadline, once the code of its entry is loaded; its later requests fail at once', async () => {
    expect((await run('send', { destinationId: 'd-late' })).kind).toBe('ends')
    const before = blocked.length
    const never = new Promise<HostAnswer>(() => {})
    const late = pool.run({
      run: {
        kind: 'deliver',
        slug: 'hostile',
        destinationId: 'd-late',
        settings: {},
        mappings: [{ index: 0, action: 'sendAgain', base: 'none', mapping: {} }],
        events: [{}],
      },
      deadlineMs: 50,
      send: () => never,
      onLate: () => {},
    })
    expect((await late).kind).toBe('late')
    // What its code does after its second request.
    await expect.poll(() => blocked.slice(before)).toEqual(['http2.connect'])
  })
})

describe('destinations with a thread of their own', () => {
  /** A request that waits for its answer. */
  function pending() {
    const sending = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<HostAnswer>()
    const send = () => {
      sending.resolve()
      return answer.promise
    }
    return { send, sending: sending.promise, answer: () => answer.resolve(OK) }
  }
  const kinds = async (ends: readonly Promise<PooledEnd>[]) => (await Promise.all(ends)).map(({ kind }) => kind)

  test('a ninth one is busy while eight are sending, and ends none of them', async () => {
    await using own = new GuestPool(options)
    const requests = Array.from({ length: 9 }, pending)
    const runs = requests.map(({ send }, at) => () => {
      return run('send', { pool: own, slug: 'pipedrive', destinationId: `d-${at}`, send })
    })
    const eight = runs.slice(0, 8).map((start) => start())
    await Promise.all(requests.slice(0, 8).map(({ sending }) => sending))
    const ninth = runs[8]!()
    await Promise.race([ninth, requests[8]!.sending])
    for (const { answer } of requests) answer()
    expect(await kinds([...eight, ninth])).toEqual([...Array(8).fill('ends'), 'busy'])
    // An idle thread makes room for it.
    expect(await kinds([runs[8]!()])).toEqual(['ends'])
  }, 60_000)

  test('the least recently used idle one makes room, and one that is sending does not', async () => {
    await using own = new GuestPool(options)
    const request = pending()
    const sending = run('send', { pool: own, slug: 'pipedrive', destinationId: 'd-0', send: request.send })
    await request.sending
    for (let at = 1; at <= 8; at++) {
      expect((await run('send', { pool: own, slug: 'pipedrive', destinationId: `d-${at}` })).kind).toBe('ends')
    }
    request.answer()
    expect((await sending).kind).toBe('ends')
  }, 60_000)

  test('a run that the pool stops is not lost, and does not start again', async () => {
    const own = new GuestPool(options)
    const request = pending()
    const sending = run('send', { pool: own, slug: 'pipedrive', send: request.send })
    await request.sending
    const waiting = run('send', { pool: own })
    await own[Symbol.asyncDispose]()
    expect(await kinds([sending, waiting, run('send', { pool: own })])).toEqual(['busy', 'busy', 'busy'])
  }, 60_000)
})
