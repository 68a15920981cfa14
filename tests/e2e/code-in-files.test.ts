import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DevEnv } from '@millrace/dev-env'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { command } from './command.ts'

/* Configuration as code with code in files beside it, through the command line. @see contracts/control-plane.md §9 */

const CENTS = 'export const toCents = (price: number) => Math.round(price * 100)\n'
const ADD_CENTS = `import { toCents } from "priceRules"
export function transformEvent(event) {
  return { ...event, cents: \`\${toCents(event.price)}\` }
}
`
const TESTS = [{ id: 't1', name: 'cents', input: [{ price: 1 }], expectedOutput: [{ price: 1, cents: '100' }] }]
const YAML = `# Bookings of the cinema.
millrace: 1
libraries:
  price-rules: {name: Price Rules, file: ./libraries/price-rules.ts}
transformations:
  add-cents: {name: Add cents, language: javascript, file: ./code/add-cents.js, tests: ./code/add-cents.tests.json}
  # In place: it is short.
  pass:
    name: Pass
    description: ""
    code: export const transformEvent = (event) => event
destinations:
  hook:
    name: Hook
    type: WEBHOOK
    transformations: [pass, add-cents]
    config: {webhookUrl: https://hooks.cinema.example/in}
sources: {}
connections: []
`

let env: DevEnv
let folder: string
beforeAll(async () => {
  env = await DevEnv.open()
})
afterAll(() => env?.[Symbol.asyncDispose]())
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'millrace-code-'))
  return () => rmSync(folder, { recursive: true, force: true })
})

test('files of code and tests are applied, pulled and stay as they are, and an edit of one is a change', async () => {
  expect((await millrace('pull')).code).toBe(0)
  write('millrace.yaml', YAML)
  const missing = await millrace('plan')
  expect([missing.code, missing.err]).toEqual([
    1,
    'Code or test files cannot be read:\n' +
      'millrace.yaml:4:36 ./libraries/price-rules.ts does not exist (/libraries/price-rules/file)\n' +
      'millrace.yaml:6:54 ./code/add-cents.js does not exist (/transformations/add-cents/file)\n' +
      'millrace.yaml:6:81 ./code/add-cents.tests.json does not exist (/transformations/add-cents/tests)\n',
  ])
  for (const each of ['libraries', 'code']) mkdirSync(path.join(folder, each))
  write('libraries/price-rules.ts', CENTS)
  write('code/add-cents.js', ADD_CENTS)
  // Another form than pull would write: it says the same.
  write('code/add-cents.tests.json', JSON.stringify(TESTS))
  const applied = await millrace('apply')
  expect([applied.code, applied.err]).toEqual([0, ''])
  expect((await millrace('plan')).out).toMatch(/^no change/)
  expect((await millrace('pull')).out).toMatch(/^unchanged/)
  expect(read('millrace.yaml')).toBe(YAML)

  const [library] = (await env.api('GET', '/v2/libraries')).json.libraries
  expect(library).toMatchObject({ language: 'typescript', code: CENTS })
  const { transformations } = (await env.api('GET', '/v2/transformations')).json
  const { id } = transformations.find(({ name }: { name: string }) => name === 'Add cents')
  expect((await env.api('POST', `/v2/transformations/${id}/tests/run`)).json.pass).toBe(true)

  write('libraries/price-rules.ts', CENTS.replace('round', 'floor'))
  const planned = await millrace('plan')
  expect(planned.code).toBe(2)
  expect(planned.out).toContain('~ update library         price-rules\n      /code: ')
  expect(planned.out).toContain('/libraries/priceRules: "as pinned" → "as in this document"\n')
})

test('what is changed over REST comes into the files by a pull, and into a new folder likewise', async () => {
  write('millrace.yaml', 'millrace: 1\n')
  await env.api('POST', '/v2/libraries?publish=true', { name: 'Hall Names', code: CENTS, language: 'typescript' })
  const { transformation } = (
    await env.api('POST', '/v2/transformations?publish=true', {
      name: 'Halls',
      code: `// $\{HALL}\n${ADD_CENTS}`.replace(/.*priceRules.*\n/, '').replace('toCents', 'String'),
    })
  ).json
  await env.api('PUT', `/v2/transformations/${transformation.id}/tests`, { tests: TESTS })
  const pulled = await millrace('pull')
  expect(pulled.out).toContain('written  ./transformations/halls.js\n')
  expect(read('millrace.yaml')).toContain('file: ./libraries/hall-names.ts')
  expect(read('libraries/hall-names.ts')).toBe(CENTS)
  expect(read('transformations/halls.js')).toBe(transformation.code)
  expect(JSON.parse(read('transformations/halls.tests.json'))).toEqual({ tests: TESTS })
  expect((await millrace('plan', '--prune')).out).toMatch(/^no change/)

  const code = 'export const transformEvent = () => null\n'
  await env.api('PUT', `/v2/transformations/${transformation.id}?publish=true`, { name: 'Halls', code })
  const again = await millrace('pull')
  expect(again.out.split('\n').slice(0, 2)).toEqual([
    expect.stringMatching(/^unchanged {2}millrace.yaml, but not its code files, from /),
    'written  ./transformations/halls.js',
  ])
  expect(read('transformations/halls.js')).toBe(code)
  expect(existsSync(path.join(folder, 'transformations/pass.js'))).toBe(
    (await env.api('GET', '/v2/config')).json.document.transformations.pass !== undefined,
  )
})

test('an error of code is told at its place in the document', async () => {
  write('millrace.yaml', 'millrace: 1\ntransformations:\n  broken: {name: Broken, file: broken.js}\n')
  write('broken.js', 'export function transformEvent(event) {\n  return event..type\n}\n')
  const { code, err } = await millrace('plan')
  expect([code, err]).toEqual([
    1,
    "millrace.yaml cannot be applied:\nmillrace.yaml:3:3 /transformations/broken/code: SyntaxError: Unexpected token '.' (line 2, column 16)\n",
  ])
})

async function millrace(name: string, ...args: string[]) {
  const file = path.join(folder, 'millrace.yaml')
  const environment = { MILLRACE_URL: env.url, MILLRACE_TOKEN: env.token }
  const { code, out, err } = await command([name, '--file', file, ...args], environment)
  const plain = (text: string) => text.replaceAll(file, 'millrace.yaml')
  return { code, out: plain(out), err: plain(err) }
}

function write(name: string, text: string): void {
  writeFileSync(path.join(folder, name), text)
}

function read(name: string): string {
  return readFileSync(path.join(folder, name), 'utf8')
}
