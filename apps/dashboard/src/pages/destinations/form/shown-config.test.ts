import type { JsonObject } from '@millrace/protocol/json'
import { expect, test } from 'vitest'
import type { ConfigField } from '../../../components/form/config-field.ts'
import { shownConfig } from './shown-config.ts'

test('a command holds no secret that was typed', () => {
  const fields = [
    { key: 'token', control: 'secret' },
    { key: 'headers', control: 'pairs' },
    { key: 'url', control: 'text' },
  ] as unknown as ConfigField[]
  const headers: JsonObject[] = [
    { from: 'X-Desk', to: '3', secret: false },
    { from: 'X-Pass', to: 'open-sesame' },
  ]
  expect(shownConfig(fields, { token: 'hush', headers, url: 'https://a.example' })).toEqual({
    token: '********',
    headers: [
      { from: 'X-Desk', to: '3', secret: false },
      { from: 'X-Pass', to: '********' },
    ],
    url: 'https://a.example',
  })
})
