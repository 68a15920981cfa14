import type { JsonObject, StoredEvent } from '@millrace/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Masking } from '../../config/masking.ts'
import { maskConfig, secretValues } from '../../config/secrets.ts'
import { DestinationRegistry } from '../../registry.ts'
import { toWire } from '../../requests/wire.ts'
import { runTransform } from '../../run-transform.ts'
import { destination } from './http.ts'

// What http.cases.ts cannot say; every-type.test.ts runs the cases.

const { definition } = destination
const registry = new DestinationRegistry([destination])
const url = 'https://api.cinema.example/in'

function run(event: JsonObject, config: JsonObject) {
  return runTransform(destination, { type: 'track', ...event } as unknown as StoredEvent, config, {
    sourceId: 's-1',
    destinationId: 'd-1',
    destinationName: 'Seats',
    messageId: 'm-88',
  })
}

describe('a config about to be saved', () => {
  const from = (to: unknown) => [{ from: 'a', to }]
  test.each<[what: string, config: object]>([
    ['the least', { url }],
    ['a placeholder behind the host', { url: 'http://user:pass@[::1]:8080/{{userId}}?a={{b}}#{{c}}' }],
    ['a method of its own', { url, method: 'PROPFIND' }],
    ['a body of every kind of JSON', { url, body: { a: [1, { b: '{{c}}' }] } }],
    ['one placeholder', { url, body: '{{properties}}' }],
    ['a form', { url, bodyFormat: 'FORM', body: { a: '{{b}}' } }],
    ['XML', { url, bodyFormat: 'XML', body: '<a>{{b}}</a>' }],
    ['no body', { url, bodyFormat: 'NONE' }],
    ['an empty password', { url, authType: 'basic', username: 'ada' }],
    ['unused variables left empty', { url, authType: 'none', username: '', password: '', token: '' }],
    ['two types', { url, messageTypes: ['track', 'page'] }],
  ])('may hold %s', (_, config) => {
    expect(registry.faultsIn(destination, config as JsonObject)).toEqual([])
  })

  const address = 'must be an http or https address without placeholders in its host'
  const types = 'must be one of identify, track, page, screen, group, alias'
  test.each<[path: string, message: string, config: object]>([
    ['/url', 'is required', {}],
    ['/url', address, { url: '' }],
    ['/url', address, { url: 'ftp://api.cinema.example' }],
    ['/url', address, { url: 'https://{{properties.host}}/in' }],
    ['/url', address, { url: 'https://api.cinema.example{{properties.host}}' }],
    ['/url', address, { url: 'https:///in' }],
    ['/method', 'must be an HTTP method other than CONNECT', { url, method: 'GET /' }],
    ['/method', 'must be an HTTP method other than CONNECT', { url, method: 'Connect' }],
    ['/headers', 'must be of type array', { url, headers: { a: 'b' } }],
    ['/headers/0/to', 'must be of type string', { url, headers: from(1) }],
    ['/params/0/to', 'is required', { url, params: from(undefined) }],
    ['/bodyFormat', 'must be one of JSON, FORM, XML, NONE', { url, bodyFormat: 'YAML' }],
    ['/body', 'must be of type object or array or string', { url, bodyFormat: 'NONE', body: 7 }],
    ['/body', 'must be an object or a list or a text that is one placeholder', { url, body: '{"a":1}' }],
    ['/body', 'is required', { url, bodyFormat: 'FORM' }],
    ['/body', 'must be an object or a text that is one placeholder', { url, bodyFormat: 'FORM', body: ['a'] }],
    ['/body', 'must be of type string', { url, bodyFormat: 'XML', body: {} }],
    ['/authType', 'must be one of none, basic, bearer, oauth2', { url, authType: 'digest' }],
    ['/username', 'is required', { url, authType: 'basic', password: 'p' }],
    [
      '/oauthClientSecret',
      'is required',
      { url, authType: 'oauth2', oauthTokenUrl: 'https://login.example', oauthClientId: 'a' },
    ],
    ['/oauthTokenUrl', 'must be an http or https address', { url, oauthTokenUrl: 'login.example' }],
    [
      '/oauthParams/0/from',
      'must be a parameter other than grant_type, client_id, client_secret, scope',
      { url, oauthParams: [{ from: 'scope', to: 'x' }] },
    ],
    ['/token', 'must not be empty', { url, authType: 'bearer', token: '' }],
    ['/messageTypes', 'must not be empty', { url, messageTypes: [] }],
    ['/messageTypes/1', types, { url, messageTypes: ['track', 'merge'] }],
  ])('is refused at %s: %s', (path, message, config) => {
    const json = JSON.parse(JSON.stringify(config)) as JsonObject
    expect(registry.faultsIn(destination, json)).toEqual([{ path, message }])
  })
})

test('no value of an event changes the origin or the folders of the address', () => {
  const piece = fc.constantFrom(
    'https:',
    '//',
    '/',
    '\\',
    '@',
    ':',
    '.',
    '..',
    '%2e',
    '?',
    '#',
    'evil.example',
    '\t',
    ' ',
  )
  const value = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(''))
  const template = fc.constantFrom('/in/{{a}}', '/in/{{a}}{{b}}/x', '/in/x-{{a}}?b={{b}}', '/in/{{a}}/{{b}}#{{a}}')
  fc.assert(
    fc.property(template, value, value, (path, a, b) => {
      const result = run({ a, b }, { url: `https://api.cinema.example${path}`, bodyFormat: 'NONE' })
      if ('error' in result) {
        expect(result.error).toBe('url would lead to another folder')
        return
      }
      const sent = new URL(toWire(result.requests[0]!, 'Millrace/1').url)
      expect(sent.origin).toBe('https://api.cinema.example')
      expect(sent.pathname.split('/').slice(0, 2)).toEqual(['', 'in'])
      expect(sent.pathname.split('/')).toHaveLength(path.split(/[?#]/)[0]!.split('/').length)
    }),
    { numRuns: 2_000 },
  )
})

test.each(['Host', ' host ', 'Connection', 'Transfer-Encoding', 'X-Forwarded-Host'])(
  'the header %s may be configured, but no event may fill it',
  (from) => {
    const withHeader = (to: string) => ({ url, headers: [{ from, to }] })
    const sent = run({}, withHeader('in.cinema.example'))
    expect(sent).toMatchObject({ requests: [{ headers: { [from.trim().toLowerCase()]: 'in.cinema.example' } }] })
    expect(run({ properties: { host: 'evil.example' } }, withHeader('{{properties.host}}'))).toEqual({
      error: `header ${from.trim()} must not contain placeholders: an event could redirect the request`,
    })
  },
)

test('values of an event stand in XML as text and nothing else', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('<', '>', '&', '"', "'", 'a', ']]>', '<!--') }), (value) => {
      const result = run({ value }, { url, bodyFormat: 'XML', body: '<a b="{{value}}">{{value}}</a>' })
      const { payload } = (result as { requests: { body: { XML: JsonObject } }[] }).requests[0]!.body.XML
      expect(
        String(payload)
          .match(/[<>"']/g)!
          .join(''),
      ).toBe('<""><>')
    }),
  )
})

describe('secrets', () => {
  const config = {
    url: 'https://ada:canary-in-the-address@api.cinema.example/in',
    headers: [
      { from: 'X-Api-Key', to: 'canary-api-key-{{userId}}' },
      { from: 'X-Desk', to: 'canary-desk-code-{{userId}}', secret: true },
      { from: 'X-Hall', to: 'hall {{userId}}' },
    ],
    params: [
      { from: 'access_token', to: 'canary-access-token-{{userId}}' },
      { from: 'lang', to: 'en' },
    ],
    token: 'canary-bearer-token',
    authType: 'bearer',
  }

  test('are masked in the config, by name or by their own word', () => {
    expect(maskConfig(definition, config)).toEqual({
      ...config,
      url: 'https://********:********@api.cinema.example/in',
      headers: [
        { from: 'X-Api-Key', to: '********' },
        { from: 'X-Desk', to: '********', secret: true },
        { from: 'X-Hall', to: 'hall {{userId}}' },
      ],
      params: [
        { from: 'access_token', to: '********' },
        { from: 'lang', to: 'en' },
      ],
      token: '********',
    })
  })

  test('are masked in what is shown, also with values of the event in them', () => {
    const result = run({ userId: 'u-4711' }, config) as unknown as {
      requests: JsonObject[]
      derivedSecrets: string[]
    }
    const [request] = result.requests
    expect(JSON.stringify(request)).toContain('canary-desk-code-u-4711')
    const masking = new Masking([...secretValues(definition, config), ...result.derivedSecrets])
    expect(masking.value(request!)).toMatchObject({
      endpoint: 'https://ada:********@api.cinema.example/in',
      headers: { 'x-api-key': '********', 'x-desk': '********', 'x-hall': 'hall u-4711', authorization: '********' },
      params: { access_token: '********', lang: 'en' },
    })
  })
})
