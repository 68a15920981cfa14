import type { DeliveryState } from '@millrace/api-types'
import { describe, expect, it } from 'vitest'
import { type FlowData, flowOf, totalRates } from './flow.ts'

const NOW = Date.parse('2026-11-21T12:00:00.000Z')

const delivery = (destinationId: string, changes: Partial<DeliveryState> = {}) =>
  ({ destinationId, state: 'ok', oldestPendingAt: null, hotId: null, deadLettersOpen: 0, ...changes }) as DeliveryState

function world(changes: Partial<Record<keyof FlowData, unknown>> = {}): FlowData {
  const node = (id: string, enabled = true) => ({ id, name: id, type: 'HTTP', enabled, transformationIds: [] })
  return {
    sources: [node('s1'), node('s2'), node('off', false)],
    destinations: [node('d1'), node('d2')],
    connections: [
      { id: 'c1', sourceId: 's1', destinationId: 'd1', enabled: true },
      { id: 'c2', sourceId: 's2', destinationId: 'd2', enabled: false },
    ],
    transformations: [],
    stats: undefined,
    deliveries: [],
    now: NOW,
    ...changes,
  } as FlowData
}

describe('the state of a destination is the first that holds', () => {
  const cases: [Partial<DeliveryState>, string, string][] = [
    [{}, 'ok', 'ok'],
    [{ state: 'unauthorised', deadLettersOpen: 3 }, 'failed', 'credentials refused'],
    [{ state: 'resting', oldestPendingAt: '2026-11-21T11:00:00.000Z' }, 'resting', 'failing'],
    [{ oldestPendingAt: '2026-11-21T11:55:30.000Z', deadLettersOpen: 3 }, 'behind', 'behind 4 min'],
    [{ oldestPendingAt: '2026-11-21T11:59:01.000Z' }, 'ok', 'ok'],
    [{ hotId: { id: 'u', waiting: 9 } }, 'behind', 'behind 1 min'],
    [{ deadLettersOpen: 1204 }, 'dead', '1,204 dead'],
  ]
  it.each(cases)('%j is %s', (changes, kind, word) => {
    const { destinations } = flowOf(world({ deliveries: [delivery('d1', changes)] }), 'd1')
    expect(destinations[0]!.state).toMatchObject({ kind, word })
  })

  it('and off before all of them', () => {
    const destinations = [{ id: 'd1', name: 'd1', enabled: false, transformationIds: [] }]
    const { destinations: shown } = flowOf(
      world({ destinations, deliveries: [delivery('d1', { state: 'resting' })] }),
      'd1',
    )
    expect(shown[0]!.state).toMatchObject({ kind: 'off', word: 'off' })
  })
})

const steps = (id: string, accepted: (number | null)[], refused: (number | null)[]) => ({ id, accepted, refused })
const delivered = (id: string, values: (number | null)[]) => ({ id, delivered: values })

describe('flowOf', () => {
  it('shows trouble first, then the highest rate', () => {
    const stats = {
      stepSeconds: 10,
      sources: [steps('s1', [10, 20], [0, 0]), steps('s2', [50, 60], [0, 0]), steps('off', [0, 0], [0, 0])],
      destinations: [],
    }
    expect(flowOf(world({ stats }), undefined).sources.map(({ id }) => id)).toEqual(['off', 's2', 's1'])
    const refused = { ...stats, sources: [...stats.sources.slice(1), steps('s1', [1, 1], [0, 2])] }
    expect(flowOf(world({ stats: refused }), undefined).sources[0]).toMatchObject({
      id: 's1',
      state: { word: '2 refused' },
    })
  })

  it('shows 12 a column and says how many more there are', () => {
    const destinations = Array.from({ length: 15 }, (_, n) => ({
      id: `d${n}`,
      name: `d${n}`,
      enabled: true,
      transformationIds: [],
    }))
    const flow = flowOf(world({ destinations, deliveries: [delivery('d14', { state: 'unauthorised' })] }), undefined)
    expect([flow.destinations.length, flow.moreDestinations, flow.moreSources]).toEqual([12, 3, 0])
    expect(flow.destinations[0]!.id).toBe('d14')
  })

  it('a focused node is shown with its neighbours, and only the lines between them', () => {
    const flow = flowOf(world(), 'd1')
    expect(flow.sources.map(({ id }) => id)).toEqual(['s1'])
    expect(flow.destinations.map(({ id }) => id)).toEqual(['d1'])
    expect(flow.lines.map(({ id, isOff }) => [id, isOff])).toEqual([['c1', false]])
  })

  it('a connection that is off is told to be off', () => {
    expect(flowOf(world(), 's2').lines).toMatchObject([{ id: 'c2', isOff: true }])
  })
})

describe('rates', () => {
  it('of all together are their sums; nothing known is nothing, and nothing there is none', () => {
    const stats = {
      stepSeconds: 10,
      sources: [steps('s1', [10], [0]), steps('s2', [5], [0]), steps('off', [null], [null])],
      destinations: [delivered('d1', [null])],
    } as never
    expect(totalRates({ stats })).toEqual({ accepted: 1.5, delivered: null })
    expect(totalRates({ stats: { stepSeconds: 10, sources: [], destinations: [] } as never })).toEqual({
      accepted: 0,
      delivered: 0,
    })
    expect(totalRates({ stats: undefined })).toEqual({ accepted: null, delivered: null })
  })
})
