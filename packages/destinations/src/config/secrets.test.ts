import type { JsonObject } from '@millrace/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { DestinationDefinition } from '../definition.ts'
import { definition } from '../types/webhook/definition.ts'
import { isSecretHeader, MASK, maskConfig, secretValues, withoutSecrets } from './secrets.ts'
import { unmaskConfig } from './unmasked-config.ts'

/** Another type, with variables in groups. */
const grouped: DestinationDefinition = {
  ...definition,
  config: { ...definition.config, secretKeys: ['login.password', 'http.headers.to'], hostKeys: ['http.url'] },
}

describe('which headers are secret', () => {
  test.each<[step: string, name: string, value: string, flag: unknown, isSecret: boolean]>([
    ['1: the flag says no', 'Authorization', 'Bearer x', false, false],
    ['1: the flag says yes', 'X-Desk', '3', true, true],
    ['1: the flag says yes to a plain name', 'Content-Type', 'x', true, true],
    ['1: a flag of another kind says nothing', 'X-Desk', '3', 'true', false],
    ...['accept', 'Accept-Encoding', 'accept-language', 'Cache-Control', 'content-type', 'content-encoding'].map(
      (name): [string, string, string, unknown, boolean] => ['2: a plain name', name, 'Bearer x', undefined, false],
    ),
    ['2: a plain name', 'USER-AGENT', 'Token x', undefined, false],
    ...[
      'Authorization',
      'proxy-authorization',
      'COOKIE',
      ' Authorization ',
      'x-token ',
      'X-Token',
      'client_secret',
    ].map((name): [string, string, string, unknown, boolean] => ['3: a secret name', name, 'x', undefined, true]),
    ...['x-password', 'x_passwd', 'pwd', 'X-Auth', 'credential', 'hub-signature', 'Api-Key', 'x_api_key', 'apikey'].map(
      (name): [string, string, string, unknown, boolean] => ['3: a secret word', name, 'x', undefined, true],
    ),
    ...['x-access-key', 'secret_key', 'my-private-key-id'].map((name): [string, string, string, unknown, boolean] => [
      '3: a secret pair of words',
      name,
      'x',
      undefined,
      true,
    ]),
    ...['Basic dTpw', 'Bearer x', 'Token x'].map((value): [string, string, string, unknown, boolean] => [
      '4: a secret value',
      'X-Desk',
      value,
      undefined,
      true,
    ]),
    ...['X-Tokens', 'authentic', 'x-key', 'api-x-key', 'set-cookie', 'keynote', ''].map(
      (name): [string, string, string, unknown, boolean] => ['5: else not', name, 'a Bearer x', undefined, false],
    ),
  ])('step %s: %s: %s (secret: %s) → %s', (_, name, value, flag, isSecret) => {
    expect(isSecretHeader(name, value, flag)).toBe(isSecret)
  })
})

describe('secrets in addresses', () => {
  test.each<[address: string, secrets: string[], shown: string]>([
    ['https://ada:s3cret@host/in', ['ada', 's3cret'], 'https://********:********@host/in'],
    ['https://:s3cret@host', ['s3cret'], 'https://:********@host'],
    ['https://sk_live_4f9a@host/in', ['sk_live_4f9a'], 'https://********@host/in'],
    ['https://sk_live_4f9a:@host/in', ['sk_live_4f9a'], 'https://********:@host/in'],
    ['https://ada:p:q@host', ['ada', 'p:q'], 'https://********:********@host'],
    // Parsers take the user name to the first colon and the password to the last @.
    ['https://ada:p@ss@host/in', ['ada', 'p@ss'], 'https://********:********@host/in'],
    ['https://ada@cinema:s3cret@host', ['ada@cinema', 's3cret'], 'https://********:********@host'],
    [' https://ada:s3cret@host', ['ada', 's3cret'], ' https://********:********@host'],
    ['https:ada:s3cret@host', ['ada', 's3cret'], 'https:********:********@host'],
    ['https:\\\\ada:s3cret@host', ['ada', 's3cret'], 'https:\\\\********:********@host'],
    ['HTTPS://ada:s3cret@host?a=b@c', ['ada', 's3cret'], 'HTTPS://********:********@host?a=b@c'],
  ])('%s', (webhookUrl, secrets, shown) => {
    const { username, password } = new URL(webhookUrl)
    const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
    const credentials = Buffer.from(pair).toString('base64')
    expect(secretValues(definition, { webhookUrl })).toEqual([...secrets, credentials, `Basic ${credentials}`])
    expect(maskConfig(definition, { webhookUrl })).toEqual({ webhookUrl: shown })
    expect(new URL(shown).host).toBe(new URL(webhookUrl).host)
  })

  test.each<[address: string, secrets: string[], shown: string]>([
    ...[
      'key',
      'apiKey',
      'X-Amz-Signature',
      'sig',
      'access_token',
      'client_secret',
      'AUTH',
      'pass-password',
      'code',
    ].map((name): [string, string[], string] => [
      `https://host/in?a=1&${name}=s3cret&b=2`,
      ['s3cret'],
      `https://host/in?a=1&${name}=********&b=2`,
    ]),
    ['https://host/?%74oken=x', ['x'], 'https://host/?%74oken=********'],
    ['https://host/?token=a&token=b#top', ['a', 'b'], 'https://host/?token=********&token=********#top'],
    ['https://host/?key=a%20b+c', ['a%20b+c', 'a b+c', 'a b c'], 'https://host/?key=********'],
    ['https://host/?key=a=b?c', ['a=b?c'], 'https://host/?key=********'],
    ['host/in?token=x', ['x'], 'host/in?token=********'],
  ])('%s', (webhookUrl, secrets, shown) => {
    expect(secretValues(definition, { webhookUrl })).toEqual(secrets)
    expect(maskConfig(definition, { webhookUrl })).toEqual({ webhookUrl: shown })
  })

  test.each([
    ['https://ada:p/ss@host/in', 'https://********:********@host/in'],
    ['https://ada:p?ss@host/in', 'https://********:********@host/in'],
    ['https://ada:p#ss@host/in', 'https://********:********@host/in'],
    ['https://ada:p#a/b?c@d@host/in', 'https://********:********@host/in'],
    ['https://ada:p ss[@host/in', 'https://********:********@host/in'],
    ['ada:s3cret@host/in', '********:********@host/in'],
    ['ftp://ada:s3cret@host/in', 'ftp://********:********@host/in'],
  ])('%s, which is no address to send to, shows nothing of its user part either', (webhookUrl, shown) => {
    expect(maskConfig(definition, { webhookUrl })).toEqual({ webhookUrl: shown })
  })

  test.each([
    'https://host/in',
    'https://host:8443/a:b@c',
    'https://host/?a:b@c',
    'https://host/?token=&code',
    'https://host/?token={{properties.token}}',
    'https://host/#token=x',
    'https://@host/',
    'no address',
  ])('none in %s', (webhookUrl) => {
    expect(secretValues(definition, { webhookUrl })).toEqual([])
    expect(maskConfig(definition, { webhookUrl })).toEqual({ webhookUrl })
  })

  test('keep their saved values by parts: a mask for each, in any order, and texts in the place of others', () => {
    const saved = { webhookUrl: 'https://ada:s3cret@host/in?token=a&key=b&token=c' }
    const unmasked = (webhookUrl: string) => unmaskConfig(definition, { webhookUrl }, saved)
    expect(unmasked(`https://${MASK}:${MASK}@host/v2?key=${MASK}&token=${MASK}&token=${MASK}`)).toEqual({
      config: { webhookUrl: 'https://ada:s3cret@host/v2?key=b&token=a&token=c' },
      masksWithoutValue: [],
      hasOtherHost: false,
    })
    expect(unmasked(`https://eve:${MASK}@host?token=new`).config).toEqual({
      webhookUrl: 'https://eve:s3cret@host?token=new',
    })
    expect(unmasked(`https://eve:new@host?sig=${MASK}`)).toEqual({
      config: { webhookUrl: `https://eve:new@host?sig=${MASK}` },
      masksWithoutValue: ['/webhookUrl'],
      hasOtherHost: false,
    })
  })

  test('are left out where secrets must not follow', () => {
    const without = (webhookUrl: string) => withoutSecrets(definition, { webhookUrl })['webhookUrl']
    expect(without('https://ada:s3cret@host/in?token=a&b=1&key=c#top')).toBe('https://host/in?b=1#top')
    expect(without('https://host?token=a')).toBe('https://host')
  })
})

describe('a config', () => {
  const config = {
    webhookUrl: 'https://ada:s3cret@host/in',
    headers: [
      { from: 'Authorization', to: 'Bearer 7Hq2' },
      { from: 'X-Desk', to: '3' },
      { from: 'X-Pin', to: '4711', secret: true },
      { from: 'X-Api-Key', to: 'open', secret: false },
      { from: 'X-Token', to: '' },
    ],
    signingSecret: 'a-secret-for-signing',
    colour: 'blue',
  }
  const masked = {
    webhookUrl: 'https://********:********@host/in',
    headers: [
      { from: 'Authorization', to: MASK },
      { from: 'X-Desk', to: '3' },
      { from: 'X-Pin', to: MASK, secret: true },
      { from: 'X-Api-Key', to: 'open', secret: false },
      { from: 'X-Token', to: '' },
    ],
    signingSecret: MASK,
    colour: 'blue',
  }

  test('names its secrets', () => {
    expect(secretValues(definition, config).toSorted()).toEqual([
      '4711',
      '7Hq2',
      'Basic YWRhOnMzY3JldA==',
      'Bearer 7Hq2',
      'YWRhOnMzY3JldA==',
      'a-secret-for-signing',
      'ada',
      's3cret',
    ])
  })

  test('is read with masks, and is unchanged itself', () => {
    const before = structuredClone(config)
    expect(maskConfig(definition, config)).toEqual(masked)
    expect(config).toEqual(before)
  })

  test('with headers as an object is read with masks', () => {
    const headers = { Authorization: 'Bearer 7Hq2', 'X-Desk': '3' }
    expect(maskConfig(definition, { headers })).toEqual({ headers: { Authorization: MASK, 'X-Desk': '3' } })
  })

  test('without its secrets keeps the rest', () => {
    expect(withoutSecrets(definition, config)).toEqual({
      webhookUrl: 'https://host/in',
      headers: [
        { from: 'X-Desk', to: '3' },
        { from: 'X-Api-Key', to: 'open', secret: false },
      ],
      colour: 'blue',
    })
  })

  test('survives a round trip of its masks', () => {
    expect(unmaskConfig(definition, masked, config)).toEqual({ config, masksWithoutValue: [], hasOtherHost: false })
  })

  test('gets saved values by the names of headers, from a list into an object too', () => {
    const headers = { AUTHORIZATION: MASK, 'X-Desk': '4' }
    expect(unmaskConfig(definition, { headers }, config)).toMatchObject({
      config: { headers: { AUTHORIZATION: 'Bearer 7Hq2', 'X-Desk': '4' } },
      masksWithoutValue: [],
    })
  })

  test.each<[how: string, headers: JsonObject[] | JsonObject, path: string]>([
    ['calls it no secret', [{ from: 'Authorization', to: MASK, secret: false }], '/headers/0/to'],
    ['no longer calls it one', [{ from: 'X-Pin', to: MASK }], '/headers/0/to'],
    ['is an object, which has no word for it', { 'X-Pin': MASK }, '/headers/X-Pin'],
  ])('keeps a saved secret from a mask that %s', (_, headers, path) => {
    expect(unmaskConfig(definition, { headers }, config)).toMatchObject({
      config: { headers },
      masksWithoutValue: [path],
    })
  })

  test('takes a new value where there is no mask', () => {
    const written = { ...masked, signingSecret: 'another-secret-to-sign' }
    expect(unmaskConfig(definition, written, config).config['signingSecret']).toBe('another-secret-to-sign')
  })

  test.each<[string, JsonObject, string]>([
    ['signingSecret', { signingSecret: MASK }, '/signingSecret'],
    [
      'a header of a list',
      {
        headers: [
          { from: 'A', to: '1' },
          { from: 'B', to: MASK },
        ],
      },
      '/headers/1/to',
    ],
    ['a header of an object', { headers: { 'x~/y': MASK } }, '/headers/x~0~1y'],
    ['a password', { webhookUrl: 'https://ada:********@host' }, '/webhookUrl'],
  ])('with a mask that stands for nothing names the place: %s', (_, written, path) => {
    expect(unmaskConfig(definition, written, { signing: 'x' }).masksWithoutValue).toEqual([path])
    expect(unmaskConfig(definition, written, undefined).masksWithoutValue).toEqual([path])
  })

  test('may hold its secrets in groups', () => {
    const inGroups = {
      login: { name: 'ada', password: 'p' },
      http: { url: 'https://ada:q@host', headers: [{ from: 'Cookie', to: 'c' }] },
    }
    const shown = {
      login: { name: 'ada', password: MASK },
      http: { url: `https://${MASK}:${MASK}@host`, headers: [{ from: 'Cookie', to: MASK }] },
    }
    expect(maskConfig(grouped, inGroups)).toEqual(shown)
    expect(unmaskConfig(grouped, shown, inGroups).config).toEqual(inGroups)
    expect(unmaskConfig(grouped, shown, { http: {} }).masksWithoutValue).toEqual([
      '/login/password',
      '/http/headers/0/to',
      '/http/url',
    ])
    expect(withoutSecrets(grouped, inGroups)).toEqual({
      login: { name: 'ada' },
      http: { url: 'https://host', headers: [] },
    })
    expect(maskConfig(grouped, { login: 'ada', http: [] })).toEqual({ login: 'ada', http: [] })
  })

  test('of any content survives a round trip, and nothing secret is read', () => {
    const name = fc.oneof(
      fc.stringMatching(/^[A-Za-z-]{1,8}$/),
      fc.constantFrom('Authorization', 'X-Api-Key', '__proto__'),
    )
    const text = fc.oneof(fc.stringMatching(/^[!-)+-~]{16,30}$/), fc.string())
    const list = fc.uniqueArray(
      fc.record({ from: name, to: text, secret: fc.boolean() }, { requiredKeys: ['from', 'to'] }),
      { selector: ({ from }) => from.toLowerCase() },
    )
    const object = fc
      .uniqueArray(fc.tuple(name, text), { selector: ([from]) => from.toLowerCase() })
      .map((entries) => Object.fromEntries(entries))
    const anyConfig = fc.record(
      { webhookUrl: text, headers: fc.oneof(list, object), signingSecret: text, colour: fc.jsonValue() },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(anyConfig, (given) => {
        const config = given as JsonObject
        const shown = maskConfig(definition, config)
        const { hasOtherHost: _, ...kept } = unmaskConfig(definition, shown, config)
        expect(kept).toEqual({ config, masksWithoutValue: [] })
        const places = JSON.stringify({ ...shown, colour: null, webhookUrl: null })
        const open = new Set(openTexts(config))
        for (const secret of secretValues(definition, config)) {
          if (secret.length >= 16 && !open.has(secret)) expect(places).not.toContain(JSON.stringify(secret))
        }
      }),
    )
  })
})

/** Values of headers that are not secret: the same text may be a secret elsewhere. */
function openTexts({ headers }: JsonObject): string[] {
  const entries = (
    Array.isArray(headers) ? headers : Object.entries(headers ?? {}).map(([from, to]) => ({ from, to }))
  ) as { from: string; to: string; secret?: boolean }[]
  return entries.flatMap(({ from, to, secret }) => (isSecretHeader(from, to, secret) ? [] : [to]))
}
