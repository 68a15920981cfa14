import { expect, test } from 'vitest'
import { type ConsentAnswer, consentAnswer } from './consent.ts'
import type { JsonObject } from './json.ts'

const ALL = { categories: ['Advertising', 'Analytics'], require: 'all' } as const
const ANY = { ...ALL, require: 'any' } as const

function preferences(categoryPreferences: object): JsonObject {
  return { consent: { categoryPreferences } } as JsonObject
}

function management(members: object): JsonObject {
  return { consentManagement: members } as JsonObject
}

const BOTH = ['Advertising', 'Analytics']

test.each<[string, JsonObject | string | null, ConsentAnswer, ConsentAnswer]>([
  ['no context', null, 'missing', 'missing'],
  ['a context that is no object', 'web', 'missing', 'missing'],
  ['a context without consent', { ip: '1.2.3.4' }, 'missing', 'missing'],
  ['consent without preferences', { consent: {} }, 'missing', 'missing'],
  ['preferences that are no object', { consent: { categoryPreferences: ['Advertising'] } }, 'missing', 'missing'],
  ['empty preferences', preferences({}), 'denied', 'denied'],
  ['all granted', preferences({ Advertising: true, Analytics: true, Other: false }), 'granted', 'granted'],
  ['one granted', preferences({ Advertising: true, Analytics: false }), 'denied', 'granted'],
  ['one not named', preferences({ Advertising: true }), 'denied', 'granted'],
  ['nothing but true grants', preferences({ Advertising: 'true', Analytics: 1 }), 'denied', 'denied'],
  ['another letter case', preferences({ advertising: true, analytics: true }), 'denied', 'denied'],
  ['all allowed', management({ allowedConsentIds: BOTH, deniedConsentIds: [] }), 'granted', 'granted'],
  [
    'one allowed',
    management({ allowedConsentIds: ['Analytics'], deniedConsentIds: ['Advertising'] }),
    'denied',
    'granted',
  ],
  ['allowed and denied', management({ allowedConsentIds: BOTH, deniedConsentIds: ['Analytics'] }), 'denied', 'granted'],
  ['only denied', management({ deniedConsentIds: ['Other'] }), 'denied', 'denied'],
  [
    'a provider with its own strategy and',
    management({ provider: 'oneTrust', resolutionStrategy: 'and', allowedConsentIds: ['Analytics'] }),
    'denied',
    'denied',
  ],
  [
    'a provider with its own strategy or',
    management({ provider: 'ketch', resolutionStrategy: 'or', allowedConsentIds: ['Analytics'] }),
    'granted',
    'granted',
  ],
  [
    'a provider without a strategy',
    management({ provider: 'iubenda', allowedConsentIds: ['Analytics'] }),
    'denied',
    'granted',
  ],
  [
    'the strategy of provider custom is the destination’s',
    management({ provider: 'custom', resolutionStrategy: 'or', allowedConsentIds: ['Analytics'] }),
    'denied',
    'granted',
  ],
  [
    'denied ids that are no list deny all',
    management({ allowedConsentIds: BOTH, deniedConsentIds: 'Analytics' }),
    'denied',
    'denied',
  ],
  [
    'denied ids that are an object deny all',
    management({ allowedConsentIds: BOTH, deniedConsentIds: { Analytics: true } }),
    'denied',
    'denied',
  ],
  ['denied ids that are null', management({ allowedConsentIds: BOTH, deniedConsentIds: null }), 'granted', 'granted'],
  ['allowed ids that are no list', management({ allowedConsentIds: 'Advertising Analytics' }), 'denied', 'denied'],
  [
    'names of members that all objects have',
    preferences({ constructor: true, toString: true, Advertising: {}, Analytics: [true] }),
    'denied',
    'denied',
  ],
  [
    'preferences of another object',
    JSON.parse('{"consent":{"__proto__":{"categoryPreferences":{"Advertising":true}}}}'),
    'missing',
    'missing',
  ],
  [
    'both forms, one of which is unreadable',
    { ...preferences({ Advertising: true, Analytics: true }), consentManagement: BOTH },
    'granted',
    'granted',
  ],
  [
    'both forms, one of which denies',
    { ...preferences({ Advertising: true, Analytics: true }), ...management({ allowedConsentIds: [] }) },
    'denied',
    'denied',
  ],
  [
    'both forms, which both grant',
    { ...preferences({ Advertising: true, Analytics: true }), ...management({ allowedConsentIds: BOTH }) },
    'granted',
    'granted',
  ],
])('%s', (_name, context, all, any) => {
  const event = context === null ? {} : { context }
  expect(consentAnswer(event, ALL)).toBe(all)
  expect(consentAnswer(event, ANY)).toBe(any)
})

test('a category with the name of a member that all objects have is granted only by name', () => {
  for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
    const asked = { categories: [name], require: 'any' } as const
    expect(consentAnswer({ context: preferences({}) }, asked)).toBe('denied')
    const own = JSON.parse(`{"context":{"consent":{"categoryPreferences":{"${name}":true}}}}`) as JsonObject
    expect(consentAnswer(own, asked)).toBe('granted')
  }
})

test('an id denied as a number is denied as the text that the destination names', () => {
  const context = management({ allowedConsentIds: ['1'], deniedConsentIds: [1] })
  expect(consentAnswer({ context }, { categories: ['1'], require: 'any' })).toBe('denied')
})
