import type { DestinationDefinition } from '@millrace/api-types'
import type { JsonObject } from '@millrace/protocol/json'
import { describe, expect, it } from 'vitest'
import { configFaults } from './config-faults.ts'
import { configFields } from './config-field.ts'
import { losesSecrets } from './origin-change.ts'

const pairs = {
  type: 'array',
  items: {
    type: 'object',
    required: ['from', 'to'],
    properties: { from: { type: 'string' }, to: { type: 'string' }, secret: { type: 'boolean' } },
  },
}
const POST_OR_PUT = '^([Pp][Oo][Ss][Tt]|[Pp][Uu][Tt])$'
const properties: JsonObject = {
  url: { type: 'string', pattern: '^https?://', description: 'an http or https address' },
  method: { type: 'string', pattern: POST_OR_PUT, default: 'POST' },
  region: { type: 'string', enum: ['US', 'EU'] },
  headers: { anyOf: [pairs, { type: 'object', additionalProperties: { type: 'string' } }] },
  signingSecret: { type: 'string', minLength: 16 },
  hosts: { type: 'array', items: { type: 'string' } },
  retries: { type: 'integer' },
  names: {
    type: 'array',
    items: { type: 'object', properties: { from: { type: 'string' }, to: { type: 'string' } } },
  },
  isDebug: { type: 'boolean' },
  body: { type: ['object', 'array', 'string'] },
  templates: { type: 'array', items: { type: 'object', properties: { eventName: {}, text: {} } } },
  certificate: { type: 'string', contentMediaType: 'application/x-pem-file' },
}
const definition = {
  defaultConfig: [
    'url',
    'method',
    'region',
    'headers',
    'hosts',
    'retries',
    'names',
    'isDebug',
    'body',
    'templates',
    'certificate',
  ],
  config: {
    extraConfig: ['signingSecret'],
    secretKeys: ['headers.to', 'signingSecret'],
    hostKeys: ['url'],
    trustedHostKeys: ['hosts'],
  },
  configSchema: { type: 'object', required: ['url'], properties },
  uiConfig: {
    fields: [
      { key: 'method', label: 'Method', help: 'Upper or lower case.' },
      { key: 'region', label: 'Region', help: 'Region' },
    ],
  },
} as unknown as DestinationDefinition
const fields = configFields(definition)

describe('configFields', () => {
  it('gives each variable the control of its schema', () => {
    expect(Object.fromEntries(fields.map(({ key, control }) => [key, control]))).toEqual({
      method: 'select',
      url: 'text',
      region: 'select',
      headers: 'pairs',
      hosts: 'tags',
      retries: 'number',
      names: 'renames',
      isDebug: 'switch',
      body: 'json',
      templates: 'json',
      certificate: 'lines',
      signingSecret: 'secret',
    })
  })

  it('takes order, label and help of the form description, and makes labels of names', () => {
    expect(fields[0]).toMatchObject({ key: 'method', label: 'Method', help: 'Upper or lower case.', fallback: 'POST' })
    expect(fields[0]!.options).toEqual(['POST', 'PUT'])
    expect(fields.at(-1)).toMatchObject({ key: 'signingSecret', label: 'Signing secret', isRequired: false })
    expect(fields.find(({ key }) => key === 'url')).toMatchObject({ isRequired: true, isHost: true })
  })

  it('omits a help text that repeats the label', () => {
    expect(fields.find(({ key }) => key === 'region')).toMatchObject({ label: 'Region', help: undefined })
  })
})

describe('configFaults', () => {
  const good: JsonObject = { url: 'https://a.example/' }
  const cases: [change: JsonObject, faults: Record<string, string>][] = [
    [{}, {}],
    [{ url: '' }, { url: 'is required' }],
    [{ url: 'ftp://a' }, { url: 'must be an http or https address' }],
    [{ method: 'put' }, {}],
    [{ method: 'FOO' }, { method: 'must be one of POST, PUT' }],
    [{ region: 'XX' }, { region: 'must be one of US, EU' }],
    [{ signingSecret: 'short' }, { signingSecret: 'must have at least 16 characters' }],
    [{ signingSecret: '********' }, {}],
    [{ retries: 1.5 }, { retries: 'must be of type integer' }],
    [{ headers: [{ from: 'a', to: 'b' }] }, {}],
    [{ headers: { a: 'b' } }, {}],
    [{ headers: [{ from: 'a' }] }, { headers: 'must be a list of objects with from and to' }],
    [{ hosts: 'a' }, { hosts: 'must be a list of strings' }],
  ]
  it.each(cases)('%j', (change, faults) => {
    expect(configFaults(fields, { ...good, ...change })).toEqual(faults)
  })

  it('reports a text that is not JSON, also when the last valid value is fine', () => {
    const unread = { body: 'Unexpected end of JSON input' }
    expect(configFaults(fields, { ...good, body: {} }, unread)).toEqual(unread)
  })
})

describe('losesSecrets', () => {
  const saved: JsonObject = { url: 'https://a.example/in', signingSecret: '********' }
  it('warns when the origin changes and a saved secret is untouched', () => {
    expect(losesSecrets(fields, saved, { ...saved, url: 'https://b.example/in' })).toBe(true)
    expect(losesSecrets(fields, saved, { ...saved, url: 'http://a.example/in' })).toBe(true)
  })

  it('warns when a further host may receive secrets, not when one may no longer', () => {
    const trusting = { ...saved, hosts: ['b.example', 'c.example'] }
    expect(losesSecrets(fields, trusting, { ...trusting, hosts: ['b.example', 'd.example'] })).toBe(true)
    expect(losesSecrets(fields, saved, trusting)).toBe(true)
    expect(losesSecrets(fields, trusting, { ...trusting, hosts: ['B.example'] })).toBe(false)
  })

  it('does not warn for another path, nor when the secrets are entered again', () => {
    expect(losesSecrets(fields, saved, { ...saved, url: 'https://a.example/other' })).toBe(false)
    expect(losesSecrets(fields, saved, { url: 'https://b.example/in', signingSecret: 'a-new-secret-value' })).toBe(
      false,
    )
  })
})
