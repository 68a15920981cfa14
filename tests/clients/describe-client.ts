import { spawn } from 'node:child_process'
import { DevEnv, type Webhook } from '@millrace/dev-env'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Client, KINDS, type Kind, programOf } from './clients.ts'
import { expectDelivered } from './delivered.ts'
import { RecordingProxy } from './recording-proxy.ts'
import { TlsFront } from './tls-front.ts'
import type { Program } from './toolchains.ts'

const COUNT = 1_000
/** Some clients repeat a refused batch ten times, with random waits that may add up to more than a minute. */
const PROGRAM_MS = 150_000
const ARRIVAL_MS = 60_000

/** What the program of a client was asked to send; where a library puts traits differs, so both places are looked at. */
const SENT_AS: Readonly<Record<Kind, object>> = {
  identify: { traits: { plan: 'gold', seats: 14 } },
  track: { event: 'Seat Reserved', properties: { hall: 'B', price: 18.5 } },
  page: { name: 'Seats', properties: { path: '/seats' } },
  screen: { name: 'Programme', properties: { day: 'Friday' } },
  group: { groupId: 'g-7', traits: { name: 'Friends of film' } },
  alias: { previousId: 'u-77' },
}

/** The same promises for every client: contracts/ingest.md §12 item 29. */
export function describeClient(client: Client): void {
  const { name, version, lacks = [], givesUpOn = [], sentAs = {} } = client
  describe(`${name} ${version}`, () => {
    let env: DevEnv
    let webhook: Webhook
    let proxy: RecordingProxy
    let program: Program
    let front: TlsFront | undefined
    beforeAll(async () => {
      program = await programOf(client)
      env = await DevEnv.open({ settings: client.needsTls ? { MILLRACE_PUBLIC_URL: TlsFront.url } : {} })
      webhook = await env.webhook()
      proxy = await RecordingProxy.open(() => env.url)
      if (client.needsTls) front = await TlsFront.open(proxy.port)
    }, 600_000)
    afterEach(() => {
      proxy.clear()
      env.sink.clear()
    })
    afterAll(async () => {
      await front?.[Symbol.asyncDispose]()
      await proxy?.[Symbol.asyncDispose]()
      await env?.[Symbol.asyncDispose]()
    })
    const play = (scenario: string, writeKey = webhook.source.writeKey) =>
      start(program, {
        ...(front?.javaEnvironment ?? {}),
        URL: front === undefined ? proxy.url : TlsFront.url,
        KEY: writeKey,
        SCENARIO: scenario,
        COUNT: String(COUNT),
      })

    test('every kind of event arrives as it was sent', async () => {
      const kinds = KINDS.filter((kind) => !lacks.includes(kind))
      await play('kinds')
      const arrived = (await env.sink.waitFor(kinds.length, ARRIVAL_MS)).map(({ json }) => json)
      expect(arrived.map(({ type }) => type)).toEqual(kinds)
      const sent = proxy.events()
      for (const [i, event] of arrived.entries()) {
        expectDelivered(event, sent[i]!)
        const kind = event.type as Kind
        const expected = { userId: 'u-88', ...SENT_AS[kind], ...sentAs[kind] }
        expect({ ...event, traits: event.traits ?? event.context?.traits }).toMatchObject(expected)
      }
    })

    test('an anonymous event arrives', async () => {
      await play('anonymous')
      const [request] = await env.sink.waitFor(1, ARRIVAL_MS)
      expectDelivered(request!.json, proxy.events()[0]!)
      expect(request!.json).toMatchObject({
        type: 'track',
        event: 'Opened',
        anonymousId: 'a-5',
        ...sentAs.anonymous,
      })
      const { messageId } = request!.json
      const trace = await env.api('GET', `/v2/events/${encodeURIComponent(messageId)}`)
      expect(trace.json.events).toMatchObject([{ messageId, sourceId: webhook.source.id }])
    })

    test.runIf(client.gzip)('what it sends is compressed', async () => {
      await play('kinds')
      await env.sink.waitFor(KINDS.length - lacks.length, ARRIVAL_MS)
      const events = proxy.passed.filter(({ method }) => method === 'POST')
      expect(events.map(({ headers }) => headers['content-encoding'])).toEqual(events.map(() => 'gzip'))
    })

    test('with a key without a source nothing is stored, and it gives up', async () => {
      await play('anonymous', 'nosuchkey')
      const statuses = proxy.passed.filter(({ method }) => method === 'POST').map(({ status }) => status)
      expect(statuses.length).toBeGreaterThan(0)
      expect(new Set(statuses)).toEqual(new Set([401]))
      expect(env.sink.received).toEqual([])
    })

    for (const status of [503, 429] as const) {
      const isRepeated = !givesUpOn.includes(status)
      test(`after a ${status} it ${isRepeated ? 'sends again, and the event arrives once' : 'gives up'}`, async () => {
        let left = 1
        proxy.refuse = () => (left-- > 0 ? status : undefined)
        await play('anonymous')
        const statuses = proxy.passed.filter(({ method }) => method === 'POST').map((each) => each.status)
        expect(statuses).toEqual(isRepeated ? [status, 200] : [status])
        if (!isRepeated) return
        await env.sink.waitFor(1, ARRIVAL_MS)
        expect(env.sink.received.map(({ json }) => json.event)).toEqual(['Opened'])
      })
    }

    test.runIf(client.needsTls)('it speaks with no other host', async () => {
      await play('kinds')
      await env.sink.waitFor(KINDS.length - lacks.length, ARRIVAL_MS)
      expect([...front!.wanted]).toEqual([`${new URL(TlsFront.url).host}:443`])
    })

    test(`${COUNT} events of a user arrive, none lost, none twice, in their order`, async () => {
      await play('many')
      const arrived = await env.sink.waitFor(COUNT, ARRIVAL_MS)
      const sent = proxy.events()
      // As they came in: a library may send several batches at a time.
      expect(arrived.map(({ json }) => json.properties.n)).toEqual(sent.map(({ event }) => event.properties.n))
      expect(arrived.map(({ json }) => json.properties.n).sort((a, b) => a - b)).toEqual([...Array(COUNT).keys()])
      for (const [i, { json }] of arrived.entries()) expectDelivered(json, sent[i]!)
    })
  })
}

/** @throws Error with what it printed, when the program fails. */
export async function start({ command, args }: Program, variables: Record<string, string>): Promise<string> {
  const child = spawn(command, args, { env: { ...process.env, ...variables }, timeout: PROGRAM_MS })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (output += bytes))
  await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve))
  if (child.signalCode !== null) throw new Error(`${command} ended by ${child.signalCode}:\n${output}`)
  return output
}
