import type { JsonObject } from '@millrace/protocol'
import { describe, expect, test } from 'vitest'
import { MASK } from '../config/secrets.ts'
import { destination as webhook } from '../types/webhook/webhook.ts'
import { overriddenConfig } from './override.ts'

/*
 * Which config an override run has, and which saved secrets come along (contracts/test-api.md §9).
 */

const TOKEN = { from: 'Authorization', to: 'Bearer saved-token' }
const DESK = { from: 'X-Desk', to: '3' }
const FLAGGED = { from: 'X-Pin', to: '4711', secret: true }
const saved: JsonObject = {
  webhookUrl: 'https://ada:s3cret@hooks.example/in',
  headers: [TOKEN, DESK, FLAGGED],
  signingSecret: 'saved-signing-secret',
  allowedHosts: ['Trusted.example'],
  connectionMode: { web: 'cloud' },
}
const elsewhere = { webhookUrl: 'https://other.example/in' }

const override = (given: JsonObject, mayCarry = false) => overriddenConfig(webhook, saved, given, mayCarry)

describe('to the same origin', () => {
  test('keys that are given replace the saved ones, null too; the others stay', () => {
    const { config, secretsElsewhere } = override({ webhookMethod: 'PUT', signingSecret: null })
    expect(config).toEqual({ ...saved, webhookMethod: 'PUT', signingSecret: null })
    expect(secretsElsewhere).toBeUndefined()
  })

  test('a mask stands for the saved value', () => {
    const headers = [
      { from: 'AUTHORIZATION', to: MASK },
      { from: 'X-Desk', to: MASK },
      { from: 'X-New', to: 'n' },
    ]
    expect(override({ webhookUrl: `https://ada:${MASK}@hooks.example/out`, headers }).config).toEqual({
      ...saved,
      webhookUrl: 'https://ada:s3cret@hooks.example/out',
      headers: [{ from: 'AUTHORIZATION', to: TOKEN.to }, DESK, { from: 'X-New', to: 'n' }],
    })
  })

  test('a mask that stands for nothing is left out', () => {
    expect(override({ headers: [{ from: 'X-Token', to: MASK }] }).config['headers']).toEqual([])
  })

  test.each<[string, JsonObject['headers']]>([
    ['by its flag', [{ ...TOKEN, to: MASK, secret: false }]],
    ['by leaving out the flag', [{ from: 'X-Pin', to: MASK }]],
    ['by the form without flags', { 'X-Pin': MASK }],
  ])('a mask cannot make a saved secret an ordinary value %s', (_, headers) => {
    expect(JSON.stringify(override({ headers: headers! }, true).config['headers'])).not.toMatch(/saved-token|4711/)
  })

  test('variables that the type does not know, and common ones, have no effect', () => {
    const { config, unknownKeys } = override({ colour: 'blue', connectionMode: { web: 'device' }, __proto__: null })
    expect(config).toEqual(saved)
    expect(unknownKeys).toEqual(['colour', 'connectionMode'])
  })
})

describe('to another origin', () => {
  test('saved secrets are withheld, everything else comes along', () => {
    const { config, secretsElsewhere } = override(elsewhere)
    expect(config).toEqual({ ...saved, ...elsewhere, headers: [DESK], signingSecret: undefined })
    expect(secretsElsewhere).toBe('withheld')
  })

  test('those who may carry them do, and are told', () => {
    const { config, secretsElsewhere } = override(elsewhere, true)
    expect(config).toEqual({ ...saved, ...elsewhere })
    expect(secretsElsewhere).toBe('used')
  })

  test('a secret that is supplied is used, whoever supplies it', () => {
    const headers = [{ from: 'Authorization', to: 'Bearer supplied-token' }]
    const { config, suppliedSecrets, secretsElsewhere } = override({ ...elsewhere, headers, signingSecret: 'x' })
    expect(config).toMatchObject({ headers, signingSecret: 'x' })
    expect(suppliedSecrets).toEqual(['Bearer supplied-token', 'supplied-token', 'x'])
    expect(secretsElsewhere).toBeUndefined()
  })

  test.each<[string, JsonObject, JsonObject]>([
    [
      'of a header',
      {
        headers: [
          { ...TOKEN, to: MASK },
          { ...DESK, to: MASK },
        ],
      },
      { headers: [DESK] },
    ],
    ['of a variable', { signingSecret: MASK }, {}],
    [
      'of a password',
      { webhookUrl: `https://ada:${MASK}@other.example/in` },
      { webhookUrl: 'https://ada@other.example/in' },
    ],
  ])('a mask %s is withheld like what it stands for', (_, given, expected) => {
    expect(override({ ...elsewhere, ...given }).config).toMatchObject(expected)
    expect(JSON.stringify(override({ ...elsewhere, ...given }).config)).not.toMatch(/s3cret|saved-/)
  })

  test.each([
    ['another port', 'https://hooks.example:444/in'],
    ['another scheme', 'http://hooks.example/in'],
    ['a subdomain', 'https://a.hooks.example/in'],
    ['no address', 'hooks.example'],
    ['null', null],
  ])('%s is another origin', (_, webhookUrl) => {
    expect(JSON.stringify(override({ webhookUrl }).config)).not.toMatch(/s3cret|saved-|4711/)
  })

  test('so is a host that secrets were not trusted to, and only that', () => {
    expect(override({ allowedHosts: ['evil.example'] })).toMatchObject({
      config: { headers: [DESK] },
      secretsElsewhere: 'withheld',
    })
    expect(override({ allowedHosts: ['trusted.example'] }).config).toEqual({
      ...saved,
      allowedHosts: ['trusted.example'],
    })
    expect(override({ allowedHosts: null }).secretsElsewhere).toBeUndefined()
  })
})

test('neither the saved config nor the given one is changed', () => {
  const before = structuredClone(saved)
  const given = { ...elsewhere, headers: [{ ...TOKEN, to: MASK }] }
  overriddenConfig(webhook, saved, given, true)
  overriddenConfig(webhook, saved, given, false)
  expect([saved, given]).toEqual([before, { ...elsewhere, headers: [{ ...TOKEN, to: MASK }] }])
})
