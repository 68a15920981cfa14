import { once } from 'node:events'
import { createServer } from 'node:net'
import { DevEnv, type Received } from '@millrace/dev-env'
import { ApiTester, MESSAGE, posted } from './tester.ts'

/*
 * Every combination of what the stages may bring, and what the contract says is answered (contracts/test-api.md §6). What
 * is expected is worked out from the tables of the contract alone.
 */

const CODE = {
  ok: 'export const transformEvent = (event) => ({ ...event, priceCents: 1850 })',
  throws: "export function transformEvent(event) {\n  throw new RangeError('price below zero')\n}",
  drops: 'export const transformEvent = () => null',
  several: 'export const transformEvent = (event) => [1, 2, 3].map((part) => ({ ...event, part }))',
  'times out': 'export function transformEvent() {\n  while (true) {}\n}',
  'out of memory':
    'export function transformEvent() {\n  const all = []\n  while (true) all.push(new Array(500_000).fill(0.5))\n}',
}

/** `none`: no transformation is attached. */
export const USERS = ['none', ...(Object.keys(CODE) as (keyof typeof CODE)[])] as const
export type User = (typeof USERS)[number]

export const DESTS = ['ok', 'throws'] as const
export type Dest = (typeof DESTS)[number]

export const ANSWERS = ['200', '404', '500', 'not JSON', 'refused', 'hangs', '100 MB'] as const
export type Answer = (typeof ANSWERS)[number]

export const FLAGS = [0, 1, 2, 3, 4, 5, 6, 7].map((bits) => ({
  user_transform: (bits & 4) !== 0,
  dest_transform: (bits & 2) !== 0,
  send_to_destination: (bits & 1) !== 0,
}))
type Flags = (typeof FLAGS)[number]

const USER_ERRORS: Partial<Record<User, string>> = {
  throws: 'RangeError: price below zero\n    at transformEvent (base transformation:2:9)',
  drops: 'event was dropped by the user transformation',
  'times out': 'Timed out',
  'out of memory': 'Memory limit exceeded',
}
const HUGE = Buffer.alloc(100_000_000, 'x')
const TEXT = { 'content-type': 'text/plain' }

/** The product with a destination for each kind of user transformation. */
export class StageTable implements AsyncDisposable {
  readonly #env: DevEnv
  readonly #api: ApiTester
  readonly #ids = new Map<User, string>()
  readonly #closedPort: number
  /** By the `n` of messages. */
  readonly #arrived = new Map<number, number>()
  #n = 0

  static async open(): Promise<StageTable> {
    const settings = {
      MILLRACE_EGRESS_ALLOW: '127.0.0.1',
      MILLRACE_HTTP_TIMEOUT_MS: '400',
      MILLRACE_TRANSFORM_SYNC_MS: '800',
      MILLRACE_TRANSFORM_MEMORY_MB: '32',
      MILLRACE_TEST_API_RPM: '0',
    }
    const table = new StageTable(await DevEnv.open({ settings }), await closedPort())
    await Promise.all(USERS.map((user) => table.#make(user)))
    return table
  }

  private constructor(env: DevEnv, port: number) {
    this.#env = env
    this.#api = new ApiTester(env)
    this.#closedPort = port
    env.sink.answer = (request) => this.#answer(request)
  }

  /** Tests one combination. @returns what was answered and arrived, and what the contract says of both. */
  async run(flags: Flags, user: User, dest: Dest, answer: Answer) {
    const n = ++this.#n
    const webhookUrl = this.#address(answer)
    const message = { ...MESSAGE, n }
    const destinationConfig = { webhookUrl, ...(dest === 'throws' ? { webhookMethod: 'FOO' } : {}) }
    const data = await this.#api.stages(this.#ids.get(user)!, flags, message, { destinationConfig })
    const expected = expectedOf(flags, user, dest, answer, message, webhookUrl)
    return { shown: { data, arrived: this.#arrived.get(n) ?? 0 }, expected }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#env[Symbol.asyncDispose]()
  }

  #address(answer: Answer): string {
    if (answer === 'refused') return `http://127.0.0.1:${this.#closedPort}/`
    return `${this.#env.sink.url}/${encodeURIComponent(answer)}`
  }

  #answer({ path, json }: Received) {
    this.#arrived.set(json.n, (this.#arrived.get(json.n) ?? 0) + 1)
    const answer = decodeURIComponent(path.slice(1)) as Answer
    if (answer === 'hangs') return new Promise<never>(() => {})
    if (answer === 'not JSON') return { headers: TEXT, body: 'well' }
    if (answer === '100 MB') return { headers: TEXT, body: HUGE }
    return { status: Number(answer), body: `{"said":${answer}}` }
  }

  async #make(user: User): Promise<void> {
    const { destinationId } = await this.#env.webhook()
    this.#ids.set(user, destinationId)
    if (user === 'none') return
    const code = { name: user, code: CODE[user] }
    const made = await this.#env.api('POST', '/v2/transformations?publish=true', code)
    const transformationIds = [made.json.transformation.id]
    await this.#env.api('PATCH', `/v2/destinations/${destinationId}`, { transformationIds })
  }
}

function expectedOf(flags: Flags, user: User, dest: Dest, answer: Answer, message: object, webhookUrl: string) {
  const { user_transform: u, dest_transform: d, send_to_destination: s } = flags
  const data: Record<string, unknown> = {}
  const error = u ? USER_ERRORS[user] : undefined
  const outputs = u ? outputsOf(user, message) : [message]
  if (u) {
    if (user === 'none') data['user_transformed_payload'] = { error: 'Transformation VersionID not found' }
    else data['user_transformed_payload'] = error === undefined ? outputs[0] : { error }
  }
  const aborted = { error: 'error encountered in dest_transformation stage. Aborting.' }
  if (error !== undefined) {
    if (d) data['dest_transformed_payload'] = { error: 'error encountered in user_transformation stage. Aborting.' }
    if (s) data['destination_response'] = aborted
    return { data, arrived: 0 }
  }
  if (dest === 'throws') {
    const failed = { error: 'Unsupported webhookMethod FOO' }
    if (d) data['dest_transformed_payload'] = failed
    if (s) data['destination_response'] = d ? aborted : failed
    return { data, arrived: 0 }
  }
  if (d) data['dest_transformed_payload'] = outputs.map((event) => posted(webhookUrl, event))
  if (!s) return { data, arrived: 0 }
  const [status, shown] = shownOf(answer)
  data['destination_response'] = outputs.map(() => shown)
  data['destination_response_status'] = outputs.map(() => status)
  return { data, arrived: answer === 'refused' ? 0 : outputs.length }
}

function outputsOf(user: User, message: object): object[] {
  if (user === 'ok') return [{ ...message, priceCents: 1850 }]
  if (user === 'several') return [1, 2, 3].map((part) => ({ ...message, part }))
  return [message]
}

function shownOf(answer: Answer): [status: number, shown: object] {
  const none = (text: string) => ({ success: false, error: { message: text, id: null } })
  switch (answer) {
    case 'not JSON':
      return [200, { body: 'well' }]
    case '100 MB':
      return [200, { body: 'x'.repeat(1024 * 1024) }]
    case 'refused':
      return [500, none('[ECONNREFUSED] :: Connection refused')]
    case 'hangs':
      return [500, none('[ETIMEDOUT] :: Operation timed out')]
    default:
      return [Number(answer), { said: Number(answer) }]
  }
}

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  return port
}
