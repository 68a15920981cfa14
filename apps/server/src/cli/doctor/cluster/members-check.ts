import type { StoredLease, StoredMember } from '@millrace/postgres'
import { duration } from '../../paint.ts'
import { type Finding, fail, ok, warn } from '../finding.ts'
import { rangesText } from '../ranges-text.ts'

/** The processes that live, by what they do. */
export function* checkMembers(members: readonly StoredMember[]): Generator<Finding> {
  const pipelines = members.filter(({ roles }) => roles.includes('pipeline'))
  const others = members.filter((member) => !pipelines.includes(member))
  const list = [...pipelines, ...others].map(({ roles, address }) => `${address} (${roles.join('+')})`).join(', ')
  if (pipelines.length === 0) {
    yield fail('members', 'no pipeline lives: events are accepted and wait. Start processes with the role pipeline')
  } else if (pipelines.length === 1) {
    yield warn('members', `${list}: one pipeline lives, and nothing is delivered while it is away. Start a second one`)
  } else yield ok('members', list)
  const versions = Map.groupBy(members, ({ version }) => version)
  if (versions.size <= 1) return
  const counts = [...versions].map(([version, of]) => `${of.length} of ${version}`).join(', ')
  yield warn('versions', `${counts}: an upgrade is under way, or was not finished`)
}

export interface LeaseFacts {
  /** Those that hold a source. */
  readonly shards: ReadonlySet<number>
  readonly leases: readonly StoredLease[]
  readonly members: readonly StoredMember[]
}

/** Whether every shard that holds a source has an owner, and every single task. */
export function* checkLeases({ shards, leases, members }: LeaseFacts): Generator<Finding> {
  const addresses = new Map(members.map(({ id, address }) => [id, address]))
  const ofShards = leases.filter(({ kind, number }) => kind === 'shard' && shards.has(number))
  const owned = ofShards.filter(({ owner }) => owner !== undefined)
  const free = [...shards].filter((shard) => !owned.some(({ number }) => number === shard)).sort((a, b) => a - b)
  const expired = ofShards.flatMap(({ expiredForMs }) => expiredForMs ?? [])
  if (free.length > 0) {
    const since = expired.length === 0 ? '' : `, the longest for ${duration(Math.max(...expired))}`
    yield fail(
      'shards',
      `${rangesText(free)} of ${shards.size} have no owner${since}: their events wait. A living pipeline claims them within a second; if none does, read its log`,
    )
  } else if (shards.size === 0) yield ok('shards', 'none yet: there is no source')
  else {
    const shares = [...Map.groupBy(owned, ({ owner }) => owner!)].map(([owner, of]) => {
      return `${of.length} at ${addresses.get(owner) ?? 'a process that just left'}`
    })
    yield ok('shards', `${shards.size} with sources, each with an owner: ${shares.join(', ')}`)
  }
  const tasks = leases.filter(({ kind }) => kind !== 'shard')
  const idle = tasks.filter(({ owner }) => owner === undefined).map(({ kind }) => kind)
  if (idle.length > 0) yield warn('tasks', `${idle.join(', ')}: no process does it now`)
  else if (tasks.length > 0) yield ok('tasks', `${tasks.map(({ kind }) => kind).join(', ')}: each has a process`)
}
