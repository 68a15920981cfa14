import { isJsonObject, type JsonObject, type JsonValue, type StoredEvent } from '@millrace/protocol'
import { describe, expect, test } from 'vitest'
import { secretValues } from './config/secrets.ts'
import type { DestinationModule } from './definition.ts'
import type { DestinationCase } from './destination-case.ts'
import { jsonBody, type RequestObject } from './requests/request-object.ts'
import { toWire } from './requests/wire.ts'
import { runTransform } from './run-transform.ts'
import {
  authorizationOf,
  batchKeyOf,
  batchLimitsOf,
  certificateOf,
  joinedRequest,
  mayHaveCredentials,
  refusalOf,
  signatureOf,
  tokenGrantOf,
} from './shield.ts'
import { typesUnderTest } from './types-under-test.ts'

/*
 * No option of a form is without a case: each variable, each member of a list or group in it, each value of a choice and each
 * state of a switch, apart from defaults. A case shows an option if it would end another way without it.
 */

/** A place in a configuration; `*` stands for every element of a list. With a value: one choice for that place. */
interface Option {
  readonly path: readonly string[]
  readonly value?: JsonValue
}

describe.each(typesUnderTest)('$folder', ({ destination, cases }) => {
  test('every option of the form is in a case that ends another way without it', () => {
    const options = optionsIn(destination.definition.configSchema)
    expect(options.filter((option) => !cases.some((each) => shows(each, option, destination))).map(nameOf)).toEqual([])
  })
})

test('an option that changes nothing is found', () => {
  const { destination, cases } = typesUnderTest.find(({ folder }) => folder === 'slack')!
  const idle = cases.map((each) => ({ ...each, config: { ...each.config, idle: true } }))
  expect(idle.some((each) => shows(each, { path: ['idle'] }, destination))).toBe(false)
  expect(idle.some((each) => shows(each, { path: ['channel'] }, destination))).toBe(true)
})

function optionsIn(schema: JsonObject, path: readonly string[] = []): Option[] {
  const { properties, items, anyOf } = schema
  const members = isJsonObject(properties) ? Object.entries(properties) : []
  if (isJsonObject(items)) members.push(['*', items])
  return [
    ...members.flatMap(([name, member]) => (isJsonObject(member) ? optionsAt([...path, name], member) : [])),
    ...(Array.isArray(anyOf) ? anyOf.filter(isJsonObject).flatMap((each) => optionsIn(each, path)) : []),
  ]
}

function optionsAt(path: readonly string[], schema: JsonObject): Option[] {
  const values = choicesIn(schema)
  const own: Option[] = values.length > 0 ? values.map((value) => ({ path, value })) : [{ path }]
  // An element is shown by its members, or by the list that holds it.
  return [...(path.at(-1) === '*' && values.length === 0 ? [] : own), ...optionsIn(schema, path)]
}

/** The values of a choice or a switch that differ from the default. */
function choicesIn({ type, enum: values, default: usual }: JsonObject): JsonValue[] {
  const all = type === 'boolean' ? [true, false] : Array.isArray(values) ? values : []
  return all.filter((value) => value !== usual)
}

function shows(each: DestinationCase, option: Option, destination: DestinationModule): boolean {
  const without = structuredClone(each.config)
  if (!isRemoved(without, option.path, option.value)) return false
  // The mark of a header decides what is masked; of anything else that would say only that it is a secret.
  if (option.path.at(-1) === 'secret' && masked(each.config, destination) !== masked(without, destination)) return true
  return effects(each, each.config, destination) !== effects(each, without, destination)
}

function masked(config: JsonObject, { definition }: DestinationModule): string {
  return JSON.stringify(secretValues(definition, config))
}

function isRemoved(node: JsonValue, [name, ...rest]: readonly string[], value: JsonValue | undefined): boolean {
  if (name === '*') {
    if (!Array.isArray(node)) return false
    if (rest.length > 0) return node.map((element) => isRemoved(element, rest, value)).includes(true)
    const kept = node.filter((element) => element !== value)
    return node.splice(0, node.length, ...kept).length > kept.length
  }
  if (name === undefined || !isJsonObject(node) || !Object.hasOwn(node, name)) return false
  if (rest.length > 0) return isRemoved(node[name]!, rest, value)
  if (value !== undefined && node[name] !== value) return false
  delete node[name]
  return true
}

/** All that a configuration decides about the event of a case. */
function effects({ event, now, batch }: DestinationCase, config: JsonObject, module: DestinationModule): string {
  const metadata = { sourceId: 's-1', destinationId: 'd-1', destinationName: 'Seats', messageId: 'm-88' }
  const run = (one: JsonObject) => runTransform(module, one as StoredEvent, config, metadata)
  const made = run(event)
  const requests = 'error' in made ? [] : made.requests
  const others = (batch?.events ?? []).map(run).flatMap((each) => ('error' in each ? [] : each.requests))
  return JSON.stringify([
    made,
    refusalOf(module, event as StoredEvent, config, Date.parse(now ?? '2026-03-04T09:15:31.900Z')),
    ...[batchLimitsOf, tokenGrantOf, certificateOf, authorizationOf].map((ask) => attempt(() => ask(module, config))),
    requests.map((request) => attempt(() => sent(request, config, module))),
    attempt(() => joined([...requests, ...others], config, module)),
  ])
}

/** What sending adds to a request. */
function sent(request: RequestObject, config: JsonObject, module: DestinationModule) {
  const wire = toWire(request, 'Millrace')
  return [mayHaveCredentials(module, wire.url, config), signatureOf(module, wire, config, 1_772_615_731)]
}

function joined(requests: RequestObject[], config: JsonObject, module: DestinationModule) {
  if (module.batches === undefined || batchLimitsOf(module, config) === undefined) return undefined
  const together = requests.filter((request) => batchKeyOf(module.batches!, request) !== undefined)
  return joinedRequest(module.batches, together, together.map(jsonBody), config)
}

function attempt<T>(ask: () => T): T | string {
  try {
    return ask()
  } catch (error) {
    return (error as Error).message
  }
}

function nameOf({ path, value }: Option): string {
  return value === undefined ? path.join('.') : `${path.join('.')} = ${JSON.stringify(value)}`
}
