import { expect } from 'vitest'
import type { Sent } from './recording-proxy.ts'

type Json = Record<string, unknown>

/** What tells the server something and is no part of the event. */
const NOT_OF_THE_EVENT = ['writeKey', '_metadata']
/** Set or rewritten on the way: contracts/ingest.md §5. */
const TIMES = ['timestamp', 'originalTimestamp', 'sentAt', 'receivedAt']
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/**
 * Every member that a client sent is at the destination with its value, and nothing else is: but for what the contract adds
 * (the times, `request_ip`, a messageId where there was none), and for the members of the envelope that count for each event.
 */
export function expectDelivered(delivered: Json, { event, envelope }: Sent): void {
  const { request_ip: address, ...rest } = delivered
  expect(address).toMatch(/^(127\.0\.0\.1|::1)$/)
  for (const name of TIMES) {
    expect(rest[name], name).toMatch(TIME)
    delete rest[name]
  }
  const expected: Json = { ...event }
  for (const name of [...NOT_OF_THE_EVENT, ...TIMES]) delete expected[name]
  if (envelope.context !== undefined) expected['context'] = merged(envelope.context, event.context ?? {})
  if (envelope.integrations !== undefined)
    expected['integrations'] = { ...envelope.integrations, ...event.integrations }
  // The webhook leaves out what is null.
  for (const [name, value] of Object.entries(expected)) if (value === null) delete expected[name]
  if (expected['messageId'] === undefined) expected['messageId'] = expect.stringMatching(/^[0-9a-f-]{36}$/)
  expect(withoutAddress(rest)).toEqual(withoutAddress(expected))
}

/** The webhook is told the address of the client in `context`, too, where the client has not said it. */
function withoutAddress(event: Json): Json {
  const { ip: _ip, ...context } = (event['context'] ?? {}) as Json
  return { ...event, context }
}

function merged(shared: Json, own: Json): Json {
  const result: Json = { ...shared }
  for (const [name, value] of Object.entries(own)) {
    const other = result[name]
    result[name] = isObject(value) && isObject(other) ? merged(other, value) : value
  }
  return result
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
