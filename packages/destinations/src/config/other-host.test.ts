import type { JsonObject } from '@millrace/protocol'
import { expect, test } from 'vitest'
import type { DestinationDefinition } from '../definition.ts'
import { definition as webhook } from '../types/webhook/definition.ts'
import { hasOtherHost } from './other-host.ts'
import { MASK } from './secrets.ts'
import { unmaskConfig } from './unmasked-config.ts'

/* Which changes of a config let its secrets reach another host (contracts/control-plane.md §6). */

const URL_KEY = 'subscriptions.*.mapping.url'
const listed = {
  config: { hostKeys: ['region', URL_KEY], secretKeys: [URL_KEY] },
} as unknown as DestinationDefinition

const mapped = (...urls: (string | null)[]) => ({ subscriptions: urls.map((url) => ({ mapping: { url } })) })
const hook = { webhookUrl: 'https://hooks.example/in' }

const CASES: [title: string, DestinationDefinition, saved: JsonObject, written: JsonObject, isOther: boolean][] = [
  ['the same origin', webhook, hook, { webhookUrl: 'https://HOOKS.example:443/out' }, false],
  ['another port', webhook, hook, { webhookUrl: 'https://hooks.example:444/in' }, true],
  ['no address any more', webhook, hook, {}, true],
  ['an address of tokens', webhook, hook, { ...hook, oauthTokenUrl: 'https://b.example/' }, true],
  ['a host that is trusted now', webhook, hook, { ...hook, allowedHosts: ['b.example'] }, true],
  ['one that is trusted too', webhook, { ...hook, allowedHosts: ['a'] }, { ...hook, allowedHosts: ['a', 'b'] }, true],
  ['a port less', webhook, { ...hook, allowedHosts: ['a:8443'] }, { ...hook, allowedHosts: ['a'] }, true],
  ['one host less', webhook, { ...hook, allowedHosts: ['a', 'b'] }, { ...hook, allowedHosts: ['b'] }, false],
  ['no list any more', webhook, { ...hook, allowedHosts: ['a'] }, { ...hook, allowedHosts: null }, false],
  ['other letters', webhook, { ...hook, allowedHosts: ['A.example'] }, { ...hook, allowedHosts: ['a.example'] }, false],
  ['a list of no texts', webhook, hook, { ...hook, allowedHosts: [{ toString: 1 }, null] }, false],
  ['another region', listed, { region: 'eu' }, { region: 'us' }, true],
  ['an address of another element', listed, mapped('https://a/1', 'https://b/1'), mapped('https://b/2'), false],
  ['an address of no element', listed, mapped('https://a/1'), mapped('https://a/1', 'https://b/1'), true],
  ['an element without address', listed, mapped('https://a/1'), mapped('https://a/1', null), false],
  ['a mask of a secret address', listed, mapped('https://a/1'), mapped(MASK), false],
  ['a mask of an address that is no secret', listed, { region: 'eu' }, { region: MASK }, true],
]

test.each(CASES)('%s', (_, definition, saved, written, isOther) => {
  expect(hasOtherHost(definition, written, saved)).toBe(isOther)
})

test('a config that replaces a saved one is judged with its masks, a new one is not judged', () => {
  const written = { ...hook, signingSecret: MASK, allowedHosts: ['b.example'] }
  const saved = { ...hook, signingSecret: 'a secret of 16 or more' }
  expect(unmaskConfig(webhook, written, saved).hasOtherHost).toBe(true)
  expect(unmaskConfig(webhook, { ...written, allowedHosts: [] }, saved).hasOtherHost).toBe(false)
  expect(unmaskConfig(webhook, written, undefined).hasOtherHost).toBe(false)
})
