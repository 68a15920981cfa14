import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Answer, AnsweringServer, type CommandResult, run } from '../command-under-test.ts'

const FILE = `millrace: 1
sources:
  web: {name: Web, type: Javascript}
destinations:
  booking-hook:
    name: Booking hook
    type: WEBHOOK
    config:
      webhookUrl: https://hooks.cinema.example/in
      headers:
        - from: Authorization
          to: Bearer \${BOOKING_TOKEN}
        - {from: X-Api-Key, to: "********"}
`
const CHANGES = [
  { action: 'delete', kind: 'connection', key: 'app/booking-hook', diff: [] },
  { action: 'create', kind: 'source', key: 'web', diff: [] },
  {
    action: 'update',
    kind: 'destination',
    key: 'booking-hook',
    diff: [
      { path: '/enabled', from: true, to: false },
      { path: '/config/headers/0/to', from: '********', to: '********', secretChanged: true },
      { path: '/config/signingSecret', from: null, to: '********', secretChanged: true },
      { path: '/config/token', from: '********', to: null, secretChanged: true },
      { path: '/delivery/throttle', from: null, to: { limit: 45, windowSeconds: 20 } },
    ],
  },
]
const TEXT = `What millrace.yaml changes at <url>, revision 57:

  - delete connection   app → booking-hook
  + create source       web
  ~ update destination  booking-hook
      /enabled: true → false
      /config/headers/0/to: (secret changed)
      /config/signingSecret: (secret added)
      /config/token: (secret removed)
      /delivery/throttle: null → {"limit":45,"windowSeconds":20}

1 to create, 1 to update, 1 to delete.
`
const planned: Answer = [200, { revision: 57, changes: CHANGES, errors: [] }]
const nothing: Answer = [200, { revision: 57, changes: [], errors: [] }]

const folder = mkdtempSync(join(tmpdir(), 'millrace-configuration-'))
const file = join(folder, 'millrace.yaml')
let server: AnsweringServer
let plan: Answer
let apply: Answer
let document: object
beforeAll(async () => {
  server = await AnsweringServer.start({
    'GET /v2/config': () => [200, { revision: 57, document }],
    'POST /v2/config/plan': () => plan,
    'POST /v2/config/apply': () => apply,
  })
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})
beforeEach(() => {
  plan = planned
  apply = [200, { revision: 58, changes: CHANGES }]
  document = { millrace: 1, sources: {}, destinations: {}, connections: [] }
  server.requests.length = 0
  writeFileSync(file, FILE)
})

/** Its output with the same names everywhere. */
async function millrace(args: string[], env: Record<string, string> = {}, isTerminal = false): Promise<CommandResult> {
  const environment = { MILLRACE_URL: server.url, MILLRACE_TOKEN: 't', BOOKING_TOKEN: 's3cret', ...env }
  const { code, out, err } = await run([...args, '--file', file], environment, { isTerminal })
  const plain = (text: string) => text.replaceAll(file, 'millrace.yaml').replaceAll(server.url, '<url>')
  return { code, out: plain(out), err: plain(err) }
}

const sent = () => server.requests.map(({ method, path, body }) => [`${method} ${path}`, JSON.parse(body || 'null')])

describe('millrace plan', () => {
  test('shows what would change, a line for each path, and exits with 2', async () => {
    expect(await millrace(['plan'])).toEqual({ code: 2, out: TEXT, err: '' })
  })

  test('exits with 0 where nothing would change', async () => {
    plan = nothing
    const out = 'no change  <url> at revision 57 matches millrace.yaml\n'
    expect(await millrace(['plan'])).toEqual({ code: 0, out, err: '' })
  })

  test('sends the file filled from the environment; a mask goes through', async () => {
    await millrace(['plan', '--prune'])
    const headers = [
      { from: 'Authorization', to: 'Bearer s3cret' },
      { from: 'X-Api-Key', to: '********' },
    ]
    const config = { webhookUrl: 'https://hooks.cinema.example/in', headers }
    const sentDocument = {
      millrace: 1,
      sources: { web: { name: 'Web', type: 'Javascript' } },
      destinations: { 'booking-hook': { name: 'Booking hook', type: 'WEBHOOK', config } },
    }
    expect(sent()).toEqual([['POST /v2/config/plan', { document: sentDocument, prune: true }]])
  })

  test.each<[string, string]>([
    ['missing', 'NO_TOKEN'],
    ['empty', 'BOOKING_TOKEN'],
  ])('names a variable that is %s, and its place, and sends nothing', async (_, name) => {
    writeFileSync(file, FILE.replace('BOOKING_TOKEN', name))
    expect(await millrace(['plan'], { BOOKING_TOKEN: '' })).toEqual({
      code: 1,
      out: '',
      err:
        'Environment variables that are unset or empty:\n' +
        `millrace.yaml:12:11 ${name} (/destinations/booking-hook/config/headers/0/to)\n`,
    })
    expect(server.requests).toEqual([])
  })

  test('shows every error of the server with line and column, as far as the file has the place', async () => {
    const errors = [
      { path: '/destinations/booking-hook/config/headers/1/to', message: 'has no saved value' },
      { path: '/sources/web/config/orderShards', message: 'must be an integer from 1 to 64' },
      { path: '/connections', message: 'must be a list' },
    ]
    plan = [200, { revision: 57, changes: CHANGES, errors }]
    expect(await millrace(['plan'])).toEqual({
      code: 1,
      out: '',
      err: `millrace.yaml cannot be applied:
millrace.yaml:13:29 /destinations/booking-hook/config/headers/1/to: has no saved value
millrace.yaml:3:3 /sources/web/config/orderShards: must be an integer from 1 to 64
millrace.yaml /connections: must be a list
`,
    })
    expect(await millrace(['plan', '--json'])).toMatchObject({ code: 1, err: '' })
  })

  test('--json prints the answer of the route', async () => {
    const { code, out } = await millrace(['plan', '--json'])
    expect([code, JSON.parse(out)]).toEqual([2, planned[1]])
  })

  test('colours it for a terminal only', async () => {
    const { out } = await millrace(['plan'], {}, true)
    expect(out).toContain('\u001b[32m+ create source       web\u001b[0m\n')
    expect(out).toContain('\u001b[31m- delete connection   app → booking-hook\u001b[0m\n')
    expect((await millrace(['plan'], { NO_COLOR: '1' }, true)).out).toBe(TEXT)
  })

  test('what a name holds does not steer the terminal', async () => {
    plan = [200, { revision: 57, changes: [{ ...CHANGES[1], key: 'a\u001b[2Jb' }], errors: [] }]
    expect((await millrace(['plan'])).out).toContain('+ create source  a [2Jb\n')
  })

  test('passes on what the server warns of', async () => {
    plan = [200, planned[1], { 'X-Millrace-Warning': 'booking-hook: The saved secrets were removed' }]
    expect((await millrace(['plan'])).err).toBe('Warning: booking-hook: The saved secrets were removed\n')
  })

  test.each<[string, string, string]>([
    [
      'is broken',
      'millrace: 1\nsources: {a: [}\ntoken: canary\n',
      'millrace.yaml is not valid YAML:\nmillrace.yaml:2:15 ',
    ],
    ['has a key twice', 'a: 1\na: 2\n', 'millrace.yaml is not valid YAML:\nmillrace.yaml:2:1 '],
    ['has two documents', 'a: 1\n---\na: 2\n', 'millrace.yaml is not valid YAML:\nmillrace.yaml:2:1 '],
    ['is a list', '- a\n', 'millrace.yaml must hold an object: '],
    ['is empty', '\n', 'millrace.yaml does not exist or is empty.\n'],
    ['holds itself', 'a: &a {b: [*a]}\n', 'millrace.yaml cannot be read: An alias stands within its own anchor.\n'],
    ['is a bomb', bomb(), 'millrace.yaml cannot be read: Excessive alias count'],
  ])('refuses a file that %s, and sends nothing', async (_, text, message) => {
    writeFileSync(file, text)
    const { code, out, err } = await millrace(['plan'])
    expect([code, out, err.slice(0, message.length)]).toEqual([1, '', message])
    expect(err).not.toContain('canary')
    expect(server.requests).toEqual([])
  })

  test('says when there is no file', async () => {
    rmSync(file)
    const advice = 'millrace.yaml does not exist or is empty.\nWrite it from the server with: npm run millrace -- pull'
    expect((await millrace(['plan'])).err).toBe(`${advice} --file millrace.yaml\n`)
    const other = await millrace(['plan', '--url', server.url], { MILLRACE_URL: '' })
    expect(other.err).toBe(`${advice} --file millrace.yaml --url <url>\n`)
  })
})

describe('millrace apply', () => {
  test('shows the plan and carries it out by its revision', async () => {
    const { code, out, err } = await millrace(['apply'])
    expect([code, out, err]).toEqual([0, `${TEXT}applied  revision 58\n`, ''])
    const [[, { document: sentDocument }], applied] = sent() as [[string, { document: object }], unknown]
    expect(applied).toEqual([
      'POST /v2/config/apply',
      { document: sentDocument, prune: false, revision: 57, discard: false },
    ])
  })

  test('passes on --prune and --discard', async () => {
    await millrace(['apply', '--prune', '--discard'])
    expect(sent().map(([, body]) => [body.prune, body.discard])).toEqual([
      [true, undefined],
      [true, true],
    ])
  })

  test('sends nothing more where nothing would change', async () => {
    plan = nothing
    expect(await millrace(['apply'])).toMatchObject({ code: 0, err: '' })
    const { code, out } = await millrace(['apply', '--json'])
    expect([code, JSON.parse(out)]).toEqual([0, { revision: 57, changes: [] }])
    expect(sent().map(([route]) => route)).toEqual(['POST /v2/config/plan', 'POST /v2/config/plan'])
  })

  test('--json prints the answer of the route alone', async () => {
    const { code, out } = await millrace(['apply', '--json'])
    expect([code, JSON.parse(out)]).toEqual([0, apply[1]])
  })

  test('with errors in the file applies nothing', async () => {
    plan = [200, { revision: 57, changes: [], errors: [{ path: '/millrace', message: 'must be 1' }] }]
    const err = 'millrace.yaml cannot be applied:\nmillrace.yaml:1:1 /millrace: must be 1\n'
    expect(await millrace(['apply'])).toEqual({ code: 1, out: '', err })
    expect(server.requests).toHaveLength(1)
  })

  test.each<[string, Answer, string]>([
    [
      'another change came between',
      [409, { error: 'Configuration has changed', code: 'conflict', details: null }],
      'The configuration changed after the plan was made; nothing was applied.\nSee the new plan with: npm run millrace -- plan --file millrace.yaml\n',
    ],
    [
      'events wait',
      [409, { error: 'Events are waiting', code: 'conflict', details: { waiting: 7 } }],
      'Waiting events of resources that would be removed: 7. Nothing was applied.\n' +
        'Wait until they are delivered, or discard them with --discard.\n',
    ],
    [
      'errors came between',
      [422, { error: 'Invalid config', details: { errors: [{ path: '/sources/web/name', message: 'is bad' }] } }],
      'millrace.yaml cannot be applied:\nmillrace.yaml:3:9 /sources/web/name: is bad\n',
    ],
    [
      'the role is too low',
      [403, { error: 'Forbidden', code: 'forbidden', details: null }],
      'The role of this token is too low: 403 Forbidden\n',
    ],
  ])('says so when %s', async (_, answer, err) => {
    apply = answer
    expect(await millrace(['apply'])).toEqual({ code: 1, out: TEXT, err })
  })
})

describe('millrace pull', () => {
  test('keeps what a file says of rules and consent that are not there, and takes over those that are', async () => {
    plan = [200, { revision: 57, changes: [], errors: [] }]
    const hook = { name: 'Hook', type: 'WEBHOOK', enabled: true }
    const ends = { source: 'web', enabled: true }
    const rules = { otherwise: 'allow', list: [{ action: 'deny', types: ['page'] }] }
    document = {
      millrace: 1,
      destinations: { one: hook, two: hook },
      connections: [
        { ...ends, destination: 'one' },
        { ...ends, destination: 'two', rules },
      ],
    }
    const lines = [
      'millrace: 1',
      'destinations:',
      '  one: {name: Hook, type: WEBHOOK, enabled: true, consent: null}',
      '  two: {name: Hook, type: WEBHOOK, enabled: true}',
      'connections:',
      '  - {source: web, destination: one, enabled: true, rules: null}',
    ]
    const two =
      '  - {source: web, destination: two, enabled: true, rules: {otherwise: allow, list: [{action: deny, types: [page]}]}}'
    const text = `${[...lines, two].join('\n')}\n`
    writeFileSync(file, text)
    expect((await millrace(['pull'])).code).toBe(0)
    expect(readFileSync(file, 'utf8')).toBe(text)
  })

  test('writes a file that plan reads as what the server has', async () => {
    rmSync(file)
    document = {
      millrace: 1,
      sources: { web: { name: 'Web', type: 'Javascript', enabled: true } },
      destinations: { hook: { name: 'yes', config: { headers: [{ from: 'Authorization', to: '********' }] } } },
      connections: [{ source: 'web', destination: 'hook', enabled: true }],
    }
    expect(await millrace(['pull'])).toEqual({
      code: 0,
      out:
        'written  millrace.yaml, from <url> at revision 57\n' +
        '1 secret shown as "********": the saved value is kept.\n',
      err: '',
    })
    expect(readFileSync(file, 'utf8')).toBe(`# Configuration of Millrace, see docs/configuration-as-code.md.
# A secret reads "********", which keeps the saved one; to set it, write \${NAME}, an environment variable.

millrace: 1
sources:
  web:
    name: Web
    type: Javascript
    enabled: true
destinations:
  hook:
    name: "yes"
    config:
      headers:
        - from: Authorization
          to: "********"
connections:
  - source: web
    destination: hook
    enabled: true
`)
    await millrace(['plan'])
    expect(sent().at(-1)![1].document).toEqual(document)
  })

  test('over a file keeps its placeholders; a second time it changes nothing', async () => {
    const headers = [
      { from: 'Authorization', to: '********' },
      { from: 'X-Api-Key', to: '********' },
    ]
    const config = { webhookUrl: 'https://elsewhere.example/in', headers }
    document = {
      millrace: 1,
      sources: { web: { name: 'Web', type: 'Javascript' } },
      destinations: { 'booking-hook': { name: 'Booking hook', type: 'WEBHOOK', config } },
    }
    expect((await millrace(['pull'])).out).toContain('1 secret shown as')
    const text = readFileSync(file, 'utf8')
    expect(text).toBe(FILE.replace('hooks.cinema.example', 'elsewhere.example'))
    expect((await millrace(['pull'])).out).toBe('unchanged  millrace.yaml matches <url> at revision 57\n')
    expect(readFileSync(file, 'utf8')).toBe(text)
  })

  test('leaves out what the file leaves out, as far as the plan would not change it', async () => {
    const source = {
      name: 'Web',
      type: 'Javascript',
      enabled: true,
      config: { orderShards: 1, catalog: { values: 'off', samples: 'full' } },
    }
    document = {
      millrace: 1,
      sources: { web: source, app: source, new: { name: 'New' } },
      destinations: {},
      connections: [
        { source: 'web', destination: 'x', enabled: true },
        { source: 'app', destination: 'x', enabled: false },
      ],
    }
    const member = '{name: Web, type: Javascript}'
    const ends = ['{source: app, destination: x}', '{source: web, destination: x}']
    const lists = (connections: string[]) => connections.map((each) => `  - ${each}\n`).join('')
    const before = `millrace: 1\nsources:\n  web: ${member}\n  app: ${member}\nconnections:\n${lists(ends)}`
    writeFileSync(file, before)
    const web = { path: '/config/catalog/values', from: 'off', to: 'on' }
    const changes = [
      { action: 'update', kind: 'source', key: 'web', diff: [web] },
      { action: 'update', kind: 'connection', key: 'app/x', diff: [{ path: '/enabled', from: false, to: true }] },
    ]
    // What has errors is written out whole.
    plan = [200, { revision: 57, changes, errors: [{ path: '/sources/app/type', message: 'cannot be' }] }]
    await millrace(['pull'])
    const whole =
      '{name: Web, type: Javascript, enabled: true, config: {orderShards: 1, catalog: {values: off, samples: full}}}'
    expect(readFileSync(file, 'utf8')).toBe(
      `millrace: 1\nsources:\n  web: {name: Web, type: Javascript, config: {catalog: {values: off}}}\n` +
        `  app: ${whole}\n  new:\n    name: New\n` +
        `connections:\n${lists(['{source: app, destination: x, enabled: false}', ends[1]!])}destinations: {}\n`,
    )

    // A plan of another revision tells nothing.
    writeFileSync(file, before)
    plan = [200, { revision: 58, changes: [], errors: [] }]
    await millrace(['pull'])
    expect(readFileSync(file, 'utf8')).toContain(`  web: ${whole}\n  app: ${whole}\n`)
  })

  test('leaves a file alone that it cannot read', async () => {
    writeFileSync(file, 'a: [')
    expect(await millrace(['pull'])).toMatchObject({ code: 1, out: '' })
    expect(readFileSync(file, 'utf8')).toBe('a: [')
  })

  test('--json prints the answer of the route', async () => {
    const { code, out } = await millrace(['pull', '--json'])
    expect([code, JSON.parse(out)]).toEqual([0, { revision: 57, document }])
  })

  test('says when the file cannot be written', async () => {
    const missing = join(folder, 'no', 'such', 'folder.yaml')
    const result = await run(['pull', '--file', missing, '--url', server.url, '--token', 't'])
    expect([result.code, existsSync(missing)]).toEqual([1, false])
    expect(result.err).toContain('cannot be written')
  })
})

test.each([
  [['plan', 'extra']],
  [['plan', '--discard']],
  [['pull', '--prune']],
  [['apply', '--force']],
  [['apply', '--url', 'nowhere']],
])('millrace %j is wrong usage', async (args) => {
  expect((await millrace(args)).code).toBe(64)
  expect(server.requests).toEqual([])
})

/** Doubles with every line. */
function bomb(): string {
  const lines = Array.from({ length: 30 }, (_, n) => `a${n + 1}: &a${n + 1} [*a${n}, *a${n}]`)
  return ['a0: &a0 [1]', ...lines].join('\n')
}
