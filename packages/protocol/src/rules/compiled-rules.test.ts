import { randomInt } from 'node:crypto'
import { expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../json.ts'
import { CompiledRules } from './compiled-rules.ts'
import type { ConnectionRule, ConnectionRules, RuleCondition, RuleOperator } from './connection-rules.ts'
import { OPERATORS } from './connection-rules.ts'
import { readRules } from './read-rules.ts'
import { ruleText } from './rule-text.ts'

const TRACK = {
  type: 'track',
  event: ' Order Completed ',
  properties: {
    value: 120,
    text: '99.5',
    coupon: null,
    paid: true,
    tags: ['vip', 3],
    items: [{ sku: 'A-1' }, { sku: 'B-2' }],
  },
  context: { app: { name: 'Cinema' } },
}

/** A condition on TRACK, and whether it holds. */
const CONDITIONS: [string, RuleOperator, JsonValue | undefined, boolean][] = [
  ['properties.value', 'equals', 120, true],
  ['properties.value', 'equals', '120', false],
  ['properties.value', 'not_equals', '120', true],
  ['properties.absent', 'not_equals', 1, true],
  ['properties.paid', 'equals', true, true],
  ['properties.value', 'at_least', 120, true],
  ['properties.value', 'greater', 120, false],
  ['properties.value', 'at_most', 120, true],
  ['properties.value', 'less', 120, false],
  ['properties.text', 'less', 100, true],
  ['properties.text', 'greater', 99, true],
  ['event', 'greater', 0, false],
  ['properties.absent', 'less', 1, false],
  ['properties.paid', 'at_least', 1, false],
  ['context.app.name', 'in', ['Cinema', 'Opera'], true],
  ['context.app.name', 'in', ['cinema'], false],
  ['context.app.name', 'not_in', ['Opera'], true],
  ['properties.absent', 'not_in', ['Opera'], true],
  ['properties.coupon', 'exists', undefined, false],
  ['properties.coupon', 'not_exists', undefined, true],
  ['properties.paid', 'exists', undefined, true],
  ['properties.tags', 'contains', 'vip', true],
  ['properties.tags', 'contains', 'vi', false],
  ['properties.tags', 'contains', 3, true],
  ['context.app.name', 'contains', 'nem', true],
  ['context.app.name', 'not_contains', 'nem', false],
  ['properties.items.1.sku', 'equals', 'B-2', true],
  ['properties.items.2.sku', 'exists', undefined, false],
  ['properties.items.length', 'exists', undefined, false],
  ['properties.constructor', 'exists', undefined, false],
  ['properties.__proto__', 'exists', undefined, false],
  ['__proto__.polluted', 'exists', undefined, false],
  ['properties.text.length', 'exists', undefined, false],
  ['properties.tags.0', 'equals', 'vip', true],
  ['properties.tags.-1', 'exists', undefined, false],
  ['properties.items', 'exists', undefined, true],
  ['properties.items', 'equals', 'A-1', false],
  ['properties.items.sku', 'not_equals', 'A-1', true],
  ['properties.items', 'greater', 0, false],
  ['properties.coupon', 'at_most', 0, false],
  ['properties.coupon', 'not_in', ['x'], true],
  ['context.app.name', 'matches', 'C*a', true],
  ['context.app.name', 'not_matches', 'C*a', false],
  ['properties.value', 'matches', '1*', false],
]

test.each(CONDITIONS)('%s %s %j: %s', (path, operator, value, holds) => {
  const condition = value === undefined ? { path, operator } : { path, operator, value }
  const rules = readRules({ list: [{ action: 'deny', conditions: [condition] }] })!
  expect(new CompiledRules(rules).reason(TRACK)).toBe(holds ? 'connection rule 1' : undefined)
})

test('the first rule that matches decides, and otherwise where none does', () => {
  const rules = new CompiledRules({
    otherwise: 'deny',
    list: [
      { action: 'allow', events: { match: 'exact', names: ['Order Completed'] } },
      { action: 'deny', types: ['track'] },
      { action: 'allow', types: ['page', 'track'] },
    ],
  })
  expect(rules.reason(TRACK)).toBe(undefined)
  expect(rules.reason({ type: 'track', event: 'Order completed' })).toBe('connection rule 2')
  expect(rules.reason({ type: 'page', name: 'Home' })).toBe(undefined)
  expect(rules.reason({ type: 'identify' })).toBe('no connection rule')
})

test.each([
  ['exact', 'Order Completed', true],
  ['exact', 'Order', false],
  ['prefix', 'Order', true],
  ['prefix', 'order', false],
  ['pattern', 'Order*', true],
  ['pattern', '*Comp*', true],
  ['pattern', 'Order', false],
  ['pattern', '*', true],
] as const)('an event name by %s %s: %s', (match, name, matches) => {
  const rules = new CompiledRules({
    otherwise: 'allow',
    list: [{ action: 'deny', events: { match, names: ['Other', name] } }],
  })
  expect(rules.match(TRACK)).toBe(matches ? 1 : 0)
  expect(rules.match({ ...TRACK, type: 'page', event: 'x', name: 'Order Completed' })).toBe(matches ? 1 : 0)
  // A rule of names never means an event without a name.
  expect(rules.match({ type: 'identify', event: 'Order Completed' })).toBe(0)
})

test.each(['identify', 'group', 'alias', 'merge'])('an event name never means the member name of %s', (type) => {
  const event = { type, name: 'Order Completed', event: 'Order Completed', properties: { name: 'Order Completed' } }
  for (const events of [
    { match: 'exact', names: ['Order Completed'] },
    { match: 'prefix', names: ['Order'] },
    { match: 'pattern', names: ['*'] },
  ] as const) {
    expect(new CompiledRules({ otherwise: 'allow', list: [{ action: 'deny', events }] }).match(event)).toBe(0)
  }
})

test.each([
  [{ type: 'screen', event: 'Home' }, 1],
  [{ type: 'screen', properties: { name: 'Home' } }, 1],
  [{ type: 'screen', name: 'Seats', event: 'Home' }, 0],
  [{ type: 'page', event: 'Home', properties: { name: 'Home' } }, 0],
])('the name of a screen falls back to event and properties.name: %j', (event, match) => {
  const events = { match: 'exact', names: ['Home'] } as const
  expect(new CompiledRules({ otherwise: 'allow', list: [{ action: 'deny', events }] }).match(event)).toBe(match)
})

test('a rule reads as one line', () => {
  const rule: ConnectionRule = {
    action: 'deny',
    types: ['track'],
    events: { match: 'prefix', names: ['Debug'] },
    conditions: [
      { path: 'properties.value', operator: 'at_least', value: 100 },
      { path: 'context.app.name', operator: 'in', value: ['Cinema', 'Opera'] },
      { path: 'userId', operator: 'exists' },
    ],
  }
  expect(ruleText(rule)).toBe(
    'deny track beginning with "Debug" where properties.value ≥ 100 and context.app.name is one of "Cinema", "Opera" and userId exists',
  )
})

test('a pattern of many stars takes time in proportion to the name', () => {
  const names = [`${'a*'.repeat(10)}b`]
  const rules = new CompiledRules({
    otherwise: 'allow',
    list: [{ action: 'deny', events: { match: 'pattern', names } }],
  })
  const name = 'a'.repeat(1_000_000)
  const before = performance.now()
  expect(rules.match({ type: 'track', event: name })).toBe(0)
  // One that backtracks would need centuries.
  expect(performance.now() - before).toBeLessThan(5_000)
})

const ROUNDS = 20_000
const seed = randomInt(2 ** 31)
test(`${ROUNDS} random rules and events, seed ${seed}: compiled rules say what a plain evaluator says`, () => {
  const make = new Maker(seed)
  let matched = 0
  for (let round = 0; round < ROUNDS; round++) {
    const rules = make.rules()
    const event = make.event()
    // Through the reader, so that whatever is made can also be saved.
    const read = readRules(rules as unknown as JsonValue)!
    const compiled = new CompiledRules(read)
    const expected = plainMatch(rules, event)
    if (expected > 0) matched++
    expect(compiled.match(event), `seed ${seed}, round ${round}: ${JSON.stringify({ rules, event })}`).toBe(expected)
    expect(compiled.reason(event)).toBe(plainReason(rules, expected))
  }
  // Otherwise the test would show little.
  expect(matched / ROUNDS).toBeGreaterThan(0.1)
  expect(matched / ROUNDS).toBeLessThan(0.9)
})

function plainReason({ otherwise, list }: ConnectionRules, match: number): string | undefined {
  if (match === 0) return otherwise === 'deny' ? 'no connection rule' : undefined
  return list[match - 1]!.action === 'deny' ? `connection rule ${match}` : undefined
}

function plainMatch({ list }: ConnectionRules, event: JsonObject): number {
  for (const [i, { types, events, conditions }] of list.entries()) {
    if (types && !types.some((type) => type === event['type'])) continue
    if (events) {
      const member = { track: 'event', page: 'name' }[String(event['type'])] ?? ''
      const name = String(event[member] ?? '').trim()
      const fits = events.names.some((each) => {
        if (events.match === 'exact') return each === name
        return events.match === 'prefix' ? name.slice(0, each.length) === each : plainGlob(each, name)
      })
      if (name === '' || !fits) continue
    }
    if ((conditions ?? []).some((condition) => !plainHolds(condition, event))) continue
    return i + 1
  }
  return 0
}

function plainHolds(condition: RuleCondition, event: JsonObject): boolean {
  const { path, operator } = condition
  const found = plainMember(event, path)
  if (operator.startsWith('not_')) {
    return !plainHolds({ ...condition, operator: operator.slice(4) } as RuleCondition, event)
  }
  const value = 'value' in condition ? condition.value : undefined
  if (operator === 'exists') return found != null
  if (operator === 'equals') return found === value
  if (operator === 'in') return (value as unknown[]).some((each) => each === found)
  if (operator === 'contains') {
    if (Array.isArray(found)) return found.some((each) => each === value)
    return typeof found === 'string' && typeof value === 'string' && found.split(value).length > 1
  }
  if (operator === 'matches') return typeof found === 'string' && plainGlob(value as string, found)
  const isText = typeof found === 'string' && found !== '' && String(Number(found)) === found
  if (typeof found !== 'number' && !isText) return false
  const difference = Number(found) - (value as number)
  if (operator === 'greater') return difference > 0
  if (operator === 'less') return difference < 0
  return operator === 'at_least' ? difference >= 0 : difference <= 0
}

function plainMember(value: JsonValue | undefined, path: string): JsonValue | undefined {
  if (value === null || typeof value !== 'object') return undefined
  const [first, ...rest] = path.split('.')
  const found = Object.entries(value).find(([name]) => name === first)?.[1]
  return rest.length === 0 ? found : plainMember(found, rest.join('.'))
}

/** Tries every length for each star. */
function plainGlob(pattern: string, name: string): boolean {
  if (pattern === '') return name === ''
  if (pattern[0] !== '*') return pattern[0] === name[0] && plainGlob(pattern.slice(1), name.slice(1))
  for (let at = 0; at <= name.length; at++) if (plainGlob(pattern.slice(1), name.slice(at))) return true
  return false
}

/** Makes rules and events of few words, so that they meet. */
class Maker {
  readonly #next: () => number

  constructor(seed: number) {
    let state = seed
    this.#next = () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return state / 2 ** 32
    }
  }

  rules(): ConnectionRules {
    const list = this.#some(4, () => this.#rule())
    const mayDeny = list.some(({ action }) => action === 'allow')
    return { otherwise: mayDeny ? this.#one(['allow', 'deny']) : 'allow', list }
  }

  event(): JsonObject {
    const type = this.#one(['track', 'page', 'identify'])
    const named = { [type === 'track' ? 'event' : 'name']: this.#text() }
    const properties = Object.fromEntries(this.#some(3, () => [this.#one(['a', 'b', '1']), this.#value(2)]))
    return { type, ...named, properties, list: this.#some(3, () => this.#value(0)) }
  }

  #rule(): ConnectionRule {
    const conditions = this.#some(2, () => this.#condition())
    return {
      action: this.#one(['allow', 'deny']),
      ...(this.#next() < 0.3 ? { types: this.#one([['track'], ['page', 'track'], ['identify']] as const) } : {}),
      ...(this.#next() < 0.4
        ? { events: { match: this.#one(['exact', 'prefix', 'pattern']), names: this.#some(2, () => this.#glob()) } }
        : {}),
      conditions,
    }
  }

  #condition(): RuleCondition {
    const path = this.#one([
      'type',
      'event',
      'properties.a',
      'properties.b',
      'properties.a.b',
      'properties.1',
      'list',
      'list.0',
      'list.7',
    ])
    const operator = this.#one(OPERATORS)
    const value = {
      exists: undefined,
      not_exists: undefined,
      in: this.#some(3, () => this.#scalar()),
      not_in: this.#some(3, () => this.#scalar()),
      greater: this.#number(),
      at_least: this.#number(),
      less: this.#number(),
      at_most: this.#number(),
      matches: this.#glob(),
      not_matches: this.#glob(),
      equals: this.#scalar(),
      not_equals: this.#scalar(),
      contains: this.#scalar(),
      not_contains: this.#scalar(),
    }[operator]
    return (value === undefined ? { path, operator } : { path, operator, value }) as RuleCondition
  }

  #value(depth: number): JsonValue {
    const kind = this.#next()
    if (kind < 0.1) return null
    if (depth > 0 && kind < 0.3) return { b: this.#value(depth - 1) }
    if (depth > 0 && kind < 0.5) return this.#some(3, () => this.#value(depth - 1))
    return this.#scalar()
  }

  #scalar(): string | number | boolean {
    return this.#one([this.#text(), this.#number(), String(this.#number()), true, false])
  }

  #number(): number {
    return this.#one([-1, 0, 1, 2.5, 3])
  }

  #text(): string {
    return this.#some(4, () => this.#one(['x', 'y', 'xy', 'z'])).join('')
  }

  #glob(): string {
    return this.#some(4, () => this.#one(['x', 'y', '*', 'z'])).join('')
  }

  /** From one to `most`. */
  #some<T>(most: number, make: () => T): T[] {
    return Array.from({ length: 1 + Math.floor(this.#next() * most) }, make)
  }

  #one<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.#next() * choices.length)]!
  }
}
