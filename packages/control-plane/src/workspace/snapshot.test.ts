import { expect, test } from 'vitest'
import { DEFAULT_DELIVERY, type Destination } from '../resources/destination.ts'
import type { PublishedTransformation } from '../transformations/code.ts'
import type { Transformation } from '../transformations/transformation.ts'
import { buildSnapshot, type Resources } from './snapshot.ts'

const NONE: Resources = {
  sources: new Map(),
  destinations: new Map(),
  connections: new Map(),
  transformations: new Map(),
  libraries: new Map(),
}

test('a destination carries the published code of its transformations, in their order', () => {
  const transformations = byId([transformation('a', 'a-1'), transformation('b', 'b-1')])
  const { destinations, destinationIdsOf } = snapshotOf([destination('d', ['b', 'a'])], transformations)
  expect(destinations.get('d')!.transformations.map(({ versionId }) => versionId)).toEqual(['b-1', 'a-1'])
  expect([destinationIdsOf('a'), destinationIdsOf('none')]).toEqual([['d'], []])
})

test('a snapshot shares everything that has not changed with the one before it', () => {
  const [a, b] = [transformation('a', 'a-1'), transformation('b', 'b-1')]
  const all = [destination('plain', []), destination('with-a', ['a']), destination('with-b', ['a', 'b'])]
  const before = snapshotOf(all, byId([a, b]))
  const after = snapshotOf(
    [...before.destinations.values()],
    byId([{ ...a, name: 'Renamed' }, transformation('b', 'b-2')]),
  )
  const same = [...after.destinations.keys()].filter((id) => after.destinations.get(id) === before.destinations.get(id))
  expect(same).toEqual(['plain', 'with-a'])
  expect(after.destinations.get('with-b')!.transformations[0]).toBe(a.published)
  expect(after.destinations.get('with-b')!.transformations[1]!.versionId).toBe('b-2')
})

function snapshotOf(destinations: readonly Destination[], transformations: ReadonlyMap<string, Transformation>) {
  return buildSnapshot(1, { ...NONE, destinations: byId(destinations), transformations }, () => 0)
}

function byId<T extends { readonly id: string }>(items: readonly T[]): Map<string, T> {
  return new Map(items.map((item) => [item.id, item]))
}

const common = { workspaceId: 'w', createdAt: 0, updatedAt: 0, revision: 1 }

function destination(id: string, transformationIds: readonly string[]): Destination {
  return {
    ...common,
    id,
    key: id,
    name: id,
    type: 'WEBHOOK',
    isEnabled: true,
    config: {},
    transformationIds,
    transformations: [],
    delivery: DEFAULT_DELIVERY,
  }
}

function transformation(id: string, versionId: string): Transformation {
  const code = { language: 'javascript', code: 'export function transformEvent(event) { return event }' } as const
  const published: PublishedTransformation = { transformationId: id, versionId, ...code, libraries: [] }
  const newest = { id: versionId, ...code, imports: [], pins: null, createdAt: 0, createdBy: 'ada@x' }
  return { ...common, id, key: id, name: id, description: '', captureLogs: false, newest, published, tests: [] }
}
