import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { run } from '../command-under-test.ts'

/*
 * `millrace test`: message tests against a configuration file, with real user code and without a server
 * (contracts/control-plane.md §10 [D734]).
 */

const CONFIG = `millrace: 1
libraries:
  price-rules: {name: Price Rules, file: ./libraries/price-rules.js}
transformations:
  add-cents: {name: Add cents, language: typescript, file: ./transformations/add-cents.ts, tests: ./transformations/add-cents.tests.json}
destinations:
  booking-hook:
    name: Booking hook
    type: WEBHOOK
    transformations: [add-cents]
    config:
      webhookUrl: https://\${BOOKING_HOST}/in
      headers: [{from: Authorization, to: "Bearer \${BOOKING_TOKEN}"}, {from: X-Key, to: "********"}]
      signingSecret: "********"
  plain: {name: Plain, type: WEBHOOK, enabled: false, config: {webhookUrl: "https://hooks.cinema.example/in"}}
`
const LIBRARY =
  'export const toCents = (price) => {\n  if (price < 0) throw new RangeError("price below zero")\n  return price * 100\n}\n'
const CODE = `import { toCents } from "priceRules"
export async function transformEvent(event: any) {
  if (event.event === "Dropped") return null // \${no placeholder} ********
  if (event.event === "Fetched") return { ...event, answer: await fetch("https://hooks.cinema.example/") }
  return { ...event, cents: toCents(event.price as number) }
}
`
const TESTS = `tests:
  - name: cents are added
    destination: booking-hook
    stage: user
    message: {type: track, event: Seat Reserved, price: 18.5}
    expect: {cents: 1850}
  - name: the request holds them
    destination: booking-hook
    stage: dest
    message: {type: track, event: Seat Reserved, price: 18.5}
    expect:
      - method: POST
        endpoint: https://hooks.cinema.example/in
        headers: {authorization: "********", x-key: "********"}
        body: {JSON: {cents: 1850}}
  - name: a price below zero is refused
    destination: booking-hook
    stage: user
    message: {type: track, event: Seat Reserved, price: -1}
    expect:
      error: |-
        RangeError: price below zero
            at toCents (library priceRules:2:24)
            at transformEvent (base transformation:5:29)
  - name: what is dropped is told
    destination: booking-hook
    stage: dest
    message: {type: track, event: Dropped}
    expect: {error: event was dropped by the user transformation}
  - name: nothing is fetched
    destination: booking-hook
    stage: user
    message: {type: track, event: Fetched}
    expect: {answer: ERROR}
  - name: one without a transformation, and disabled
    destination: plain
    stage: dest
    message: {type: page, name: Seats}
    expect: [{body: {JSON: {type: page, name: Seats}}}]
  - name: that has no transformation
    destination: plain
    stage: user
    message: {type: page}
    expect: {error: Transformation VersionID not found}
`
const FAILING = `tests:
  - name: wrong <cents>
    destination: booking-hook
    stage: user
    message: {type: track, price: 1}
    expect: {cents: 7, tax: {rate: 2}}
  - {name: no such destination, destination: none, stage: user, message: {type: track}, expect: {}}
  - {name: no such type, destination: plain, stage: dest, message: {type: merge}, expect: {}}
`

const folder = mkdtempSync(join(tmpdir(), 'millrace-test-command-'))
const place = (name: string) => join(folder, name)
const config = place('millrace.yaml')
const bookings = place('bookings.millrace-test.yaml')
afterAll(() => rmSync(folder, { recursive: true }))
beforeEach(() => {
  rmSync(folder, { recursive: true })
  for (const each of ['', 'libraries', 'transformations']) mkdirSync(place(each))
  writeFileSync(config, CONFIG)
  writeFileSync(place('libraries/price-rules.js'), LIBRARY)
  writeFileSync(place('transformations/add-cents.ts'), CODE)
  writeFileSync(place('transformations/add-cents.tests.json'), '{"tests": []}')
  writeFileSync(bookings, TESTS)
})

/** @returns what it writes, with file names as they are in the folder. */
async function millrace(...argv: string[]) {
  const { code, out, err } = await run(['test', ...argv, '--config', config], { BOOKING_HOST: 'hooks.cinema.example' })
  return { code, out: out.replaceAll(`${folder}/`, ''), err: err.replaceAll(`${folder}/`, '') }
}

test('runs every test of a file against real code, and exits with 0 when all pass', async () => {
  expect(await millrace(bookings)).toEqual({
    code: 0,
    err: '',
    out: `bookings.millrace-test.yaml
  pass  cents are added  (booking-hook, user)
  pass  the request holds them  (booking-hook, dest)
  pass  a price below zero is refused  (booking-hook, user)
  pass  what is dropped is told  (booking-hook, dest)
  pass  nothing is fetched  (booking-hook, user)
  pass  one without a transformation, and disabled  (plain, dest)
  pass  that has no transformation  (plain, user)

7 passed
`,
  })
})

test('shows what differs and where, and exits with 1', async () => {
  writeFileSync(bookings, FAILING)
  expect(await millrace(bookings)).toEqual({
    code: 1,
    err: '',
    out: `bookings.millrace-test.yaml
  FAIL  wrong <cents>  (booking-hook, user)
          /cents
            expected 7
            but got  100
          /tax
            expected {
                       "rate": 2
                     }
            but there is nothing
  FAIL  no such destination  (none, user)
          There is no destination "none" in the configuration.
  FAIL  no such type  (plain, dest)
          message type is unsupported

0 passed, 3 failed
`,
  })
})

test('a stage that fails unexpectedly says why, instead of what differs', async () => {
  writeFileSync(
    bookings,
    `tests:
  - {name: cents, destination: booking-hook, stage: user, message: {type: track, price: -1}, expect: {cents: 7}}
  - {name: request, destination: booking-hook, stage: dest, message: {type: track, price: -1}, expect: [{method: POST}]}
  - {name: another error, destination: booking-hook, stage: user, message: {type: track, price: -1}, expect: {error: x}}
`,
  )
  const { out } = await millrace(bookings)
  const said = `          the stage failed: RangeError: price below zero
                                  at toCents (library priceRules:2:24)
                                  at transformEvent (base transformation:5:29)
`
  expect(out.split('  FAIL  ').slice(1, 3)).toEqual([
    `cents  (booking-hook, user)\n  ${said}`,
    `request  (booking-hook, dest)\n  ${said}`,
  ])
  expect(out).toContain('/error\n            expected "x"\n            but got  RangeError: price below zero\n')
})

test('writes a JUnit report', async () => {
  writeFileSync(bookings, FAILING)
  const other = place('other.millrace-test.yaml')
  writeFileSync(other, TESTS.split('  - name: the request')[0]!)
  await millrace(bookings, other, '--junit', place('report.xml'))
  const report = readFileSync(place('report.xml'), 'utf8').replaceAll(`${folder}/`, '')
  expect(report).toContain('<testsuites name="millrace test" tests="4" failures="3">')
  expect(report).toContain('<testsuite name="bookings.millrace-test.yaml" tests="3" failures="3">')
  expect(report).toContain('<testsuite name="other.millrace-test.yaml" tests="1" failures="0">')
  expect(report).toContain('<testcase name="wrong &#60;cents&#62;" classname="booking-hook.user">')
  expect(report).toContain('<failure message="/cents">/cents\n  expected 7\n  but got  100')
  expect(report).toContain('<testcase name="cents are added" classname="booking-hook.user"/>')
})

test('a report that cannot be written is an error below the outcomes', async () => {
  writeFileSync(bookings, TESTS)
  const { code, out, err } = await millrace(bookings, '--junit', place('none/report.xml'))
  expect([code, out]).toEqual([1, expect.stringContaining(' passed\n')])
  expect(err).toMatch(/^.*none\/report\.xml cannot be written: ENOENT: .*\.\n$/)
})

test('--json prints the outcome of every test', async () => {
  writeFileSync(bookings, FAILING)
  const { code, out } = await millrace(bookings, '--json')
  expect([code, JSON.parse(out)]).toMatchObject([
    1,
    {
      pass: false,
      tests: [
        {
          name: 'wrong <cents>',
          pass: false,
          mismatches: [{ path: '/cents', expected: 7, actual: 100 }, { path: '/tax' }],
          result: { cents: 100 },
        },
        { pass: false },
        { pass: false },
      ],
    },
  ])
})

test.each<[string, () => void, string]>([
  [
    'a broken test file',
    () => writeFileSync(bookings, 'tests:\n  - name: x\n'),
    'bookings.millrace-test.yaml cannot be run:\nbookings.millrace-test.yaml:2:5 destination is required\n',
  ],
  ['a test file that is not there', () => rmSync(bookings), 'bookings.millrace-test.yaml does not exist.\n'],
  ['a configuration that is not there', () => rmSync(config), 'millrace.yaml does not exist or is empty.\n'],
  [
    'code that is not there',
    () => rmSync(place('transformations/add-cents.ts')),
    'Code or test files cannot be read:\nmillrace.yaml:5:54 ./transformations/add-cents.ts does not exist ',
  ],
  [
    'code that does not parse',
    () => writeFileSync(place('transformations/add-cents.ts'), 'export function transformEvent( {'),
    'millrace.yaml cannot be applied:\nmillrace.yaml:5:',
  ],
  [
    'a configuration with an error',
    () => writeFileSync(config, CONFIG.replace('type: WEBHOOK\n', 'type: NONE\n')),
    'millrace.yaml cannot be applied:\nmillrace.yaml:9:5 /destinations/booking-hook/type: ',
  ],
])('says where the fault is: %s', async (_, make, said) => {
  make()
  const { code, out, err } = await millrace(bookings)
  expect([code, out, err.slice(0, said.length)]).toEqual([1, '', said])
})
