import type { DestinationDefinition } from '@millrace/api-types'
import { expect, test } from 'vitest'
import { defaultMappings, preparedMappings, withMapping } from './prepared-mappings.ts'

const action = { title: 'Send', description: '', trigger: null, fields: {} }
const presets = [{ name: 'Orders', action: 'order', trigger: 'event = "Order Completed"' }]

function definition(uiConfig: object): DestinationDefinition {
  return { uiConfig } as DestinationDefinition
}

test('presets come first, and an action without a trigger gets one to change', () => {
  const prepared = preparedMappings(definition({ presets, actions: { send: action } }))
  expect(prepared.map(({ written }) => written)).toEqual([
    { action: 'order', preset: 'Orders' },
    { action: 'send', trigger: 'type = "track"', base: 'default' },
  ])
})

test('without presets the actions with a trigger apply', () => {
  const ready = { ...action, title: 'Ready', trigger: 'type = "identify"' }
  expect(defaultMappings(definition({ actions: { send: action, ready } })).map(({ name }) => name)).toEqual(['Ready'])
  expect(defaultMappings(definition({ presets, actions: { ready } })).map(({ name }) => name)).toEqual(['Orders'])
})

test('a mapping is added behind the others, and nothing else changes', () => {
  const config = { apiKey: '********', subscriptions: [{ action: 'a' }] }
  expect(withMapping(config, { action: 'b' })).toEqual({
    apiKey: '********',
    subscriptions: [{ action: 'a' }, { action: 'b' }],
  })
  expect(withMapping({}, { action: 'b' })).toEqual({ subscriptions: [{ action: 'b' }] })
  expect(withMapping({ subscriptions: ['unfinished'] }, { action: 'b' })).toEqual({
    subscriptions: ['unfinished', { action: 'b' }],
  })
})
