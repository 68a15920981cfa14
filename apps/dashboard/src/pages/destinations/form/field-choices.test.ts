import type { DestinationDefinition } from '@millrace/api-types'
import type { JsonObject } from '@millrace/protocol/json'
import { expect, test } from 'vitest'
import { choiceFields, chosenText, offeredChoices, withChoice } from './field-choices.ts'

const fields = {
  list_id: { label: 'List', help: '', type: 'string', dynamic: 'values' },
  columns: { label: 'Columns', help: '', type: 'object', dynamic: 'keys' },
  email: { label: 'Email', help: '', type: 'string' },
}
const action = { title: 'Add to list', description: '', trigger: null, fields }
const definition = { uiConfig: { actions: { add: action } } } as unknown as DestinationDefinition
const mapping = { list_id: 'a', email: { '@path': '$.traits.email' }, region: 'eu' }
const config: { subscriptions: JsonObject[] } = {
  subscriptions: [{ action: 'none' }, { action: 'add', name: 'Members', mapping }],
}

test('every configured mapping has its fields with choices, with the literal values that they may depend on', () => {
  expect(choiceFields(definition, config)).toEqual([
    {
      at: 1,
      action: 'add',
      name: 'list_id',
      label: 'List of Members',
      isKeys: false,
      value: 'a',
      values: { list_id: 'a', region: 'eu' },
    },
    expect.objectContaining({ name: 'columns', label: 'Columns of Members', isKeys: true, value: undefined }),
  ])
})

test('a choice replaces the value of its mapping alone, and a chosen name becomes a member', () => {
  const [list, columns] = choiceFields(definition, config)
  const chosen = withChoice(config, list!, 'b')
  expect(chosen['subscriptions']).toEqual([
    { action: 'none' },
    { action: 'add', name: 'Members', mapping: { ...mapping, list_id: 'b' } },
  ])
  const named = withChoice(withChoice(config, columns!, 'x'), columns!, 'y')
  expect(named['subscriptions']).toEqual([
    { action: 'none' },
    { action: 'add', name: 'Members', mapping: { ...mapping, columns: { x: '', y: '' } } },
  ])
  expect(config.subscriptions[1]!['mapping']).toEqual(mapping)
})

test('each value is offered once, and the one that is set is among them', () => {
  const listed = [
    { label: 'A', value: 'a' },
    { label: 'A again', value: 'a' },
    { label: '', value: 'b' },
    { label: 'empty', value: '' },
  ]
  expect(offeredChoices(listed, 'c')).toEqual([
    { value: 'c', label: 'c' },
    { value: 'a', label: 'A again' },
    { value: 'b', label: 'b' },
  ])
  expect(offeredChoices([], 4711)).toEqual([{ value: '4711', label: '4711' }])
  expect([4711, 'a', '', { '@path': '$.a' }, undefined].map(chosenText)).toEqual(['4711', 'a', null, null, null])
})
