import type { StoredEvent } from '@millrace/protocol'
import { describe, expect, test } from 'vitest'
import type { DestinationModule, TransformContext } from './definition.ts'
import { requestObject } from './requests/request-object.ts'
import { runTransform } from './run-transform.ts'
import { definition } from './types/webhook/definition.ts'

const event = {
  type: 'track',
  event: 'Seat Reserved',
  messageId: 'm-88',
  receivedAt: '',
  request_ip: '',
} as StoredEvent
const metadata = { sourceId: 's-1', destinationId: 'd-1', destinationName: 'Seats', messageId: 'm-88' }
const request = requestObject({ method: 'POST', endpoint: 'https://hooks.cinema.example/in' })
const notAList = { error: 'destination transformation did not return a list of request objects' }

function run(transform: (event: StoredEvent, context: TransformContext) => unknown) {
  return runTransform({ definition, transform } as DestinationModule, event, { hall: 'B' }, metadata)
}

test('the transformation gets event, config and metadata', () => {
  const seen: unknown[] = []
  run((given, context) => {
    seen.push(given, context.config, context.metadata)
    return []
  })
  expect(seen).toEqual([event, { hall: 'B' }, metadata])
})

test('one event may give none, one or a hundred requests, and no more', () => {
  for (const n of [0, 1, 100]) {
    const requests = Array(n).fill(request)
    expect(run(() => requests)).toEqual({ requests, derivedSecrets: [] })
  }
  expect(run(() => Array(101).fill(request))).toEqual({ error: 'too many requests' })
})

test('a type that the definition does not list is not handed to the code', () => {
  const onlyIdentify = {
    ...definition,
    config: { ...definition.config, supportedMessageTypes: { cloud: ['identify'] } },
  }
  const transform = () => expect.unreachable()
  const none = { ...definition, config: { ...definition.config, supportedMessageTypes: {} } }
  for (const each of [onlyIdentify, none]) {
    const result = runTransform({ definition: each, transform }, event, {}, metadata)
    expect(result).toEqual({ error: 'message type track not supported' })
  }
})

describe('what goes wrong in the code of a destination is the text of that event', () => {
  test.each<[what: string, thrown: unknown, error: string]>([
    ['an Error', new Error('email is missing'), 'email is missing'],
    ['a mistake of the code', new TypeError('x is not a function'), 'x is not a function'],
    ['a text', 'email is missing', 'destination transformation failed'],
    ['nothing', undefined, 'destination transformation failed'],
    ['an object that is no text', Object.create(null), 'destination transformation failed'],
  ])('it throws %s', (_, thrown, error) => {
    const result = run(() => {
      throw thrown
    })
    expect(result).toEqual({ error })
  })

  test('it never ends', () => {
    const forever = (): unknown => [forever()]
    expect(run(forever)).toEqual({ error: 'Maximum call stack size exceeded' })
  })

  test.each<[what: string, result: unknown]>([
    ['nothing', undefined],
    ['one request', request],
    ['a promise', Promise.resolve([request])],
    ['a text', 'x'],
    ['null in a list', [request, null]],
    ['a list in a list', [[request]]],
    ['a request without a method', [{ ...request, method: undefined }]],
    ['a request with another endpoint', [{ ...request, endpoint: new URL('https://hooks.cinema.example') }]],
    ['a request with a list of headers', [{ ...request, headers: [] }]],
    ['a request without params', [{ ...request, params: null }]],
    ['a request with a text as body', [{ ...request, body: '{}' }]],
    ['a request that lacks a kind of body', [{ ...request, body: { JSON: {}, XML: {}, FORM: {} } }]],
    ['a request of another version', [{ ...request, version: '2' }]],
    ['a request of another type', [{ ...request, type: 'GRAPHQL' }]],
    ['a request without files', [{ ...request, files: undefined }]],
  ])('it returns %s', (_, result) => {
    expect(run(() => result)).toEqual(notAList)
  })

  test('it fills two bodies of one request', () => {
    const twoBodies = { ...request, body: { ...request.body, JSON: { a: 1 }, FORM: { a: 1 } } }
    expect(run(() => [request, twoBodies])).toEqual({ error: 'Request has more than one non-empty body' })
  })
})

test('what the code makes of secrets is known, also without its scheme', () => {
  const result = run((_, { basicAuth, bearer, secret }) => {
    const headers = { a: basicAuth('ada', 'p'), b: bearer('t-1'), c: secret('s-1') }
    return [requestObject({ ...request, headers })]
  })
  expect(result).toMatchObject({ requests: [{ headers: { a: 'Basic YWRhOnA=', b: 'Bearer t-1', c: 's-1' } }] })
  expect(result).toMatchObject({ derivedSecrets: ['YWRhOnA=', 'Basic YWRhOnA=', 't-1', 'Bearer t-1', 's-1'] })
})

test('secrets of one event are not those of the next', () => {
  run((_, context) => [requestObject({ ...request, headers: { a: context.secret('s-1') } })])
  expect(run(() => [request])).toEqual({ requests: [request], derivedSecrets: [] })
})
