import type { DeliveryState, Destination, Stats } from '@millrace/api-types'
import { describe, expect, it, test } from 'vitest'
import { deliveredPerMinute } from './destination-activity.ts'
import { fitsFilter, listedDestinations } from './listed-destination.ts'

const NOW = Date.parse('2026-03-04T09:15:30.000Z')

function destination(changes: Partial<Destination> = {}): Destination {
  return {
    id: 'd1',
    key: 'booking-hook',
    name: 'Booking hook',
    type: 'WEBHOOK',
    enabled: true,
    ...changes,
  } as Destination
}

function delivery(changes: Partial<DeliveryState> = {}): DeliveryState {
  const quiet = { destinationId: 'd1', state: 'ok', pending: 0, retrying: 0, blockedEvents: 0, deadLettersOpen: 0 }
  return { ...quiet, hotId: null, oldestPendingAt: null, ...changes } as DeliveryState
}

describe('listedDestinations', () => {
  it('counts what waits and what is dead', () => {
    const state = delivery({ pending: 4, retrying: 2, blockedEvents: 1, deadLettersOpen: 3 })
    expect(listedDestinations([destination()], [state], new Map([['d1', 6]]), NOW)).toMatchObject([
      { perMinute: 6, waiting: 7, dead: 3, state: { kind: 'dead' } },
    ])
  })

  it('knows no figure of a destination of which nothing was read', () => {
    expect(listedDestinations([destination()], undefined, new Map(), NOW)).toMatchObject([
      { perMinute: null, waiting: null, dead: null },
    ])
  })
})

describe('fitsFilter', () => {
  const [listed] = listedDestinations([destination()], [delivery({ state: 'resting' })], new Map(), NOW)
  it.each([
    [{}, true],
    [{ q: 'BOOK' }, true],
    [{ q: 'd1' }, true],
    [{ q: 'kiosk' }, false],
    [{ state: 'resting' }, true],
    [{ state: 'ok' }, false],
    [{ type: 'WEBHOOK' }, true],
    [{ type: 'SLACK' }, false],
  ] as const)('%j: %j', (filter, fits) => expect(fitsFilter(listed!, filter)).toBe(fits))
})

test('deliveries a minute count only steps that are known', () => {
  const stats = { stepSeconds: 10, destinations: [{ id: 'd1', delivered: [null, null, 5, 7] }] } as unknown as Stats
  expect(deliveredPerMinute(stats).get('d1')).toBe(36)
})
