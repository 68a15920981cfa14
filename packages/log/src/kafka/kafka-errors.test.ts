import { MultipleErrors, NetworkError } from '@platformatic/kafka'
import { expect, test } from 'vitest'
import { causeOf, codeName } from './kafka-errors.ts'

test('of nested lists of errors only the innermost are told, once each, three at most', () => {
  const refused = (port: number) => new NetworkError('Connection failed.', { cause: new Error(`refused by ${port}`) })
  const nested = new MultipleErrors('produce failed 3 times.', [
    new MultipleErrors('Cannot connect to any broker.', [refused(1), refused(2)]),
    new MultipleErrors('Cannot connect to any broker.', [refused(1), refused(3)]),
    refused(4),
  ])
  expect(causeOf(nested)).toBe('refused by 1; refused by 2; refused by 3')
  expect(causeOf(new Error('plain'))).toBe('plain')
  expect(causeOf('text')).toBe('text')
})

test('codes have the names of the protocol', () => {
  expect([codeName(19), codeName(1), codeName(9_999)]).toEqual([
    'NOT_ENOUGH_REPLICAS',
    'OFFSET_OUT_OF_RANGE',
    'error 9999',
  ])
})
