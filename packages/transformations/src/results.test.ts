import type { JsonObject } from '@millrace/protocol'
import { afterAll, describe, expect, test } from 'vitest'
import { closeAll, essences, events, open, runCode } from './under-test.ts'

// Promises of contracts/transformations.md §2 and §1 (metadata, deep copies).

const transformations = open()
afterAll(closeAll)

const given = { type: 'track', messageId: 'm-0', properties: { n: 0 } }

describe('what transformEvent returns', () => {
  const notAnObject = 'returned event from transformEvent(event) is not an object'
  const notAllObjects = 'returned event in events array from transformEvent(event) is not an object'

  test.each<[string, JsonObject[] | string]>([
    ['event', [given]],
    ['{ a: 1 }', [{ a: 1 }]],
    ['{ a: undefined, b() {}, c: { d() {} }, e: [undefined] }', [{ c: {}, e: [null] }]],
    ['{ toJSON() { return { a: 1 } } }', [{ a: 1 }]],
    ['Promise.resolve({ a: 1 })', [{ a: 1 }]],
    ['{ then(resolve) { resolve({ a: 1 }) } }', [{ a: 1 }]],
    ['null', 'dropped'],
    ['undefined', 'dropped'],
    ['[]', 'dropped'],
    ['Promise.resolve(null)', 'dropped'],
    ['[{ a: 1 }, event, { b: 2 }]', [{ a: 1 }, given, { b: 2 }]],
    ['new Map([[1, 2]])', [{}]],
    ['[event, null]', notAllObjects],
    ['[[event]]', notAllObjects],
    ['[event, 1]', notAllObjects],
    ['[() => {}]', notAllObjects],
    ['[new Date(0)]', notAllObjects],
    ['0', notAnObject],
    ["''", notAnObject],
    ["'text'", notAnObject],
    ['true', notAnObject],
    ['false', notAnObject],
    ['() => {}', notAnObject],
    ['Symbol()', notAnObject],
    ['1n', notAnObject],
    ['new Date(0)', notAnObject],
    ['{ toJSON() { return [1] } }', notAnObject],
    ['Promise.resolve(7)', notAnObject],
    ['new Array(1001).fill({})', 'too many events returned'],
    ["{ text: 'x'.repeat(256 * 1024) }", 'returned event is too large'],
    ["{ text: 'é'.repeat(128 * 1024) }", 'returned event is too large'],
    ["{ text: '☃'.repeat(87 * 1024) }", 'returned event is too large'],
    [nested(1_001), 'returned event is nested too deeply'],
    [`[{}, ${nested(20_000)}]`, 'returned event is nested too deeply'],
    ["{ text: '[{'.repeat(2_000) }", [{ text: '[{'.repeat(2_000) }]],
  ])('%s', async (expression, expected) => {
    const result = await runCode(transformations, `export const transformEvent = (event) => (${expression})`)
    expect(essences(result)).toEqual([expected])
  })

  test('outputs at the limits pass', async () => {
    const many = await runCode(transformations, 'export const transformEvent = () => new Array(1000).fill({})')
    expect(essences(many)[0]).toHaveLength(1000)
    const large = "export const transformEvent = () => ({ t: 'x'.repeat(256 * 1024 - 8) })"
    expect(essences(await runCode(transformations, large))[0]).toHaveLength(1)
    const wide = "export const transformEvent = () => ({ t: '☃'.repeat(87_000) })"
    expect(essences(await runCode(transformations, wide))[0]).toHaveLength(1)
    const deep = `export const transformEvent = () => (${nested(1_000)})`
    expect(essences(await runCode(transformations, deep))[0]).toHaveLength(1)
  })

  test('an event that throws fails alone, with its version named', async () => {
    const code =
      'export function transformEvent(event) { if (event.properties.n % 40 === 7) throw "no sevens"; return event }'
    const batch = events(...Array.from({ length: 100 }, (_, n) => ({ n })))
    const { results } = await runCode(transformations, code, { events: batch })
    const failed = results.flatMap((result, at) => ('error' in result ? [at] : []))
    expect(failed).toEqual([7, 47, 87])
    expect(results[7]).toMatchObject({ error: 'no sevens', isRetryable: false, versionId: expect.stringMatching(/^v/) })
    expect(results[99]).toMatchObject({ events: [batch[99]!.event] })
  })

  test('outputs keep the order of inputs when calls end in reverse', async () => {
    const code = `
      let before
      export async function transformEvent(event) {
        const { n } = event.properties
        const others = before
        before = Promise.resolve()
        for (let turns = 0; turns < (10 - n) * 5; turns++) await others
        return [{ n }, { n, second: true }]
      }`
    const result = await runCode(transformations, code, { events: events(...[0, 1, 2, 3, 4].map((n) => ({ n }))) })
    expect(essences(result)).toEqual([0, 1, 2, 3, 4].map((n) => [{ n }, { n, second: true }]))
  })

  test('members of any name cross as they are', async () => {
    const event = JSON.parse(
      '{"type":"track","__proto__":{"a":1},"constructor":"x","☃":"\\ud800 \\u2028"}',
    ) as JsonObject
    const result = await runCode(transformations, 'export const transformEvent = (event) => event', {
      events: [{ event, metadata: {} }],
    })
    expect(JSON.stringify(essences(result)[0])).toBe(JSON.stringify([event]))
  })
})

describe('what transformBatch returns', () => {
  const batch = events({ n: 0 }, { n: 1 }, { n: 2 })
  const whole = (text: string) => [text, text, text]

  test.each<[string, unknown[]]>([
    ['events', batch.map(({ event }) => [event])],
    ['Promise.resolve(events)', batch.map(({ event }) => [event])],
    ['events.filter((event) => event.properties.n !== 1)', [[batch[0]!.event], 'dropped', [batch[2]!.event]]],
    ['[]', whole('dropped')],
    ['null', whole('returned events from transformBatch(event) is not an array')],
    ['{}', whole('returned events from transformBatch(event) is not an array')],
    ['[events[0], null]', whole('returned event in events array from transformBatch(events) is not an object')],
    ['[[]]', whole('returned event in events array from transformBatch(events) is not an object')],
    ["(() => { throw 'whole' })()", whole('whole')],
    ["Promise.reject('whole')", whole('whole')],
    ['new Array(3001).fill({})', whole('too many events returned')],
    // The list is the code's own.
    ['events.splice(0)', batch.map(({ event }) => [event])],
    ['events.splice(0) && events', whole('dropped')],
    ["(events.length = 0, Promise.reject('whole'))", whole('whole')],
    [
      'events.push({ a: 1 }) && events',
      [...batch.slice(0, 2).map(({ event }) => [event]), [batch[2]!.event, { a: 1 }]],
    ],
    // Without a match an output follows the one before, at first the batch's first.
    ["[{ a: 1 }, { messageId: 'm-2' }, { b: 1 }]", [[{ a: 1 }], 'dropped', [{ messageId: 'm-2' }, { b: 1 }]]],
    // Order of outputs within an input; the last with its messageId takes what is left over.
    [
      "[{ messageId: 'm-1', a: 1 }, { messageId: 'm-1', b: 1 }]",
      [
        'dropped',
        [
          { messageId: 'm-1', a: 1 },
          { messageId: 'm-1', b: 1 },
        ],
        'dropped',
      ],
    ],
  ])('%s', async (expression, expected) => {
    const code = `export const transformBatch = (events) => (${expression})`
    expect(essences(await runCode(transformations, code, { events: batch }))).toEqual(expected)
  })

  test('outputs belong to inputs of the same messageId one after the other, the rest to the last', async () => {
    const [one] = batch
    const code = 'export const transformBatch = ([event]) => [1, 2, 3].map((n) => ({ ...event, n }))'
    const result = await runCode(transformations, code, { events: [one!, one!] })
    expect(essences(result)).toEqual([
      [{ ...one!.event, n: 1 }],
      [
        { ...one!.event, n: 2 },
        { ...one!.event, n: 3 },
      ],
    ])
  })

  test.each([
    ['of one', 1_000, 1_001],
    ['without a messageId', 1_000, 1_001],
  ])('outputs %s are 1,000 at most, in a batch of two', async (which, passes, fails) => {
    const output = which === 'of one' ? '{ messageId: "m-0" }' : '{}'
    const run = { events: events({}, {}) }
    const returned = (count: number) => `export const transformBatch = () => Array(${count}).fill(${output})`
    expect(essences(await runCode(transformations, returned(passes), run))[0]).toHaveLength(1_000)
    const text = 'too many events returned'
    expect(essences(await runCode(transformations, returned(fails), run))).toEqual([text, text])
  })

  test('a batch that fails is followed by one that does not', async () => {
    const code = 'let n = 0; export function transformBatch(events) { if (++n === 1) throw "first"; return events }'
    const steps = (await import('./under-test.ts')).version(code)
    const run = () =>
      transformations.run({
        key: 'batches',
        steps: [steps],
        events: batch,
        mode: 'live',
        credentials: new Map(),
        captureLogs: false,
      })
    expect(essences(await run())).toEqual(whole('first'))
    expect(essences(await run())).toEqual(batch.map(({ event }) => [event]))
  })
})

describe('metadata', () => {
  const members = { sourceId: 's-1', sourceName: 'Shop', destinationId: 'd-1' }

  test.each([
    ['event', { ...members, messageId: 'm-0', jobId: '0' }],
    ["{ messageId: 'm-0' }", { ...members, messageId: 'm-0', jobId: '0' }],
    ["{ messageId: 'other' }", {}],
    ['{}', {}],
    ['null', {}],
    ['undefined', {}],
    ["'m-0'", {}],
  ])('of %s', async (asked, expected) => {
    const code = `export const transformEvent = (event, metadata) => metadata(${asked})`
    expect(essences(await runCode(transformations, code))).toEqual([[expected]])
  })

  test('is empty once the messageId was changed', async () => {
    const code = 'export function transformEvent(event, metadata) { event.messageId = "x"; return metadata(event) }'
    expect(essences(await runCode(transformations, code))).toEqual([[{}]])
  })

  test('events without messageId match each other', async () => {
    const code = 'export const transformEvent = (event, metadata) => metadata({})'
    const run = { events: [{ event: { type: 'track' }, metadata: { a: 1 } }] }
    expect(essences(await runCode(transformations, code, run))).toEqual([[{ a: 1 }]])
  })

  test('each event of a batch has its own', async () => {
    const code =
      'export const transformBatch = (events, metadata) => events.map((event) => ({ ...event, of: metadata(event) }))'
    const [a, b, c] = events({}, {}, {})
    const shared = { sourceId: 'a' }
    const run = {
      events: [
        { ...a!, metadata: shared },
        { ...b!, metadata: { sourceId: 'b' } },
        { ...c!, metadata: shared },
      ],
    }
    const result = await runCode(transformations, code, run)
    expect(essences(result).map((outputs) => (outputs as JsonObject[])[0]!['of'])).toEqual([
      { sourceId: 'a', messageId: 'm-0', jobId: '0' },
      { sourceId: 'b', messageId: 'm-1', jobId: '1' },
      { sourceId: 'a', messageId: 'm-2', jobId: '2' },
    ])
  })

  test('what code changes in it is its own', async () => {
    const code = `export const transformBatch = (events, metadata) => events.map((event) => {
      const own = metadata(event)
      own.sourceId += '!'
      return { messageId: event.messageId, id: own.sourceId, again: metadata(event).sourceId }
    })`
    const result = await runCode(transformations, code, { events: events({}, {}) })
    expect(essences(result)).toEqual([0, 1].map((n) => [{ messageId: `m-${n}`, id: 's-1!', again: 's-1' }]))
  })
})

test('an object that two outputs share is copied', async () => {
  const code = `
    let shared = { n: 0 }
    export function transformEvent(event) { shared.n++; return { shared } }`
  const result = await runCode(transformations, code, { events: events({}, {}) })
  expect(essences(result)).toEqual([[{ shared: { n: 1 } }], [{ shared: { n: 2 } }]])
})

/** An expression: an event of so many levels, itself included. */
function nested(levels: number): string {
  return `Array.from({ length: ${levels} }).reduce((inner) => ({ inner }), undefined)`
}
