import type { JsonObject } from '@millrace/protocol/json'
import { expect, test } from 'vitest'
import { ApiError } from '../../api/requests/failure.ts'
import { fieldRefusal } from './refusal.tsx'

test.each<[path: string, shown: { field: string; text: string } | undefined]>([
  ['/config/subscriptions/1/action', { field: 'subscriptions', text: '[1].action must be one of a, b' }],
  ['/config/subscriptions', { field: 'subscriptions', text: 'must be one of a, b' }],
  ['/delivery/throttle', { field: 'delivery', text: 'must be one of a, b' }],
  ['/other', undefined],
])('a refusal at %s stands at its field, with the element of a list', (path, shown) => {
  expect(fieldRefusal(refused({ path, message: 'must be one of a, b' }), ['delivery', 'subscriptions'])).toEqual(shown)
})

function refused(details: JsonObject): ApiError {
  const text = 'Destination config is invalid'
  return new ApiError({ status: 422, text, code: 'invalid', details, requestId: '', retryAfterS: null })
}
