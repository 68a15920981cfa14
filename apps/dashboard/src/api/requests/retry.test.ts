import { expect, it } from 'vitest'
import { connectionFailure, failureOf } from './failure.ts'
import { nextTryMs, pollEvery } from './retry.ts'

const failed = (status: number, headers: Record<string, string> = {}) => failureOf(status, new Headers(headers), '')

it('what passes by itself is tried again, as late as the server asks, and within a minute', () => {
  expect(nextTryMs(connectionFailure())).toBe(3000)
  expect(nextTryMs(failed(500))).toBe(10_000)
  expect(nextTryMs(failed(429, { 'Retry-After': '7' }))).toBe(7000)
  expect(nextTryMs(failed(503, { 'Retry-After': '0' }))).toBe(1000)
  expect(nextTryMs(failed(429, { 'Retry-After': '3600' }))).toBe(60_000)
})

it('what only a person can mend is not tried again', () => {
  for (const status of [400, 401, 403, 404, 412, 422, 507]) expect(nextTryMs(failed(status))).toBeNull()
  expect(nextTryMs(new Error('a fault of our own'))).toBeNull()
})

it('polling goes on at its pace, and at that of the next try while it fails', () => {
  const poll = pollEvery(5000)
  expect(poll({ state: { status: 'success', error: null } })).toBe(5000)
  expect(poll({ state: { status: 'error', error: connectionFailure() } })).toBe(3000)
  expect(poll({ state: { status: 'error', error: failed(403) } })).toBe(false)
  expect(pollEvery(null)({ state: { status: 'success', error: null } })).toBe(false)
})
