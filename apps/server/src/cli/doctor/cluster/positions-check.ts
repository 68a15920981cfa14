import type { StoredPosition } from '@millrace/delivery/postgres'
import { counted } from '@millrace/wording'
import { oneLine } from '../../paint.ts'
import { type Finding, fail, ok } from '../finding.ts'

/** Maximum of readers that a finding names. */
const MAX_NAMED = 5

export interface PositionFacts {
  /** Shards that have a source. */
  readonly shards: ReadonlySet<number>
  readonly positions: readonly StoredPosition[]
  /** Names of destinations by id: most readers are destinations. */
  readonly names: ReadonlyMap<string, string>
  /** The number of live partitions; imports follow them. */
  readonly homes: number
  /** By partition. */
  readonly offsets: readonly { readonly first: number; readonly end: number }[]
}

/** Whether every reader can continue: no record after its position was deleted, and the position is not beyond the end. */
export function* checkPositions({ shards, positions, names, homes, offsets }: PositionFacts): Generator<Finding> {
  // A partition holds one stream; the position in the other stream has no meaning.
  const read = positions.filter(({ partition, stream }) => {
    return partition < offsets.length && shards.has(partition % homes) && stream === (partition < homes ? 0 : 1)
  })
  const cut = read.filter(({ partition, offset }) => offset < offsets[partition]!.first)
  const beyond = read.filter(({ partition, offset }) => offset > offsets[partition]!.end)
  if (cut.length > 0) {
    const lost = (each: StoredPosition) => `${each.offset} to ${offsets[each.partition]!.first - 1}`
    const text = 'were deleted before they were read. Their events expire with the reason "log was cut"'
    yield fail('positions', `records ${named(cut, names, lost)} ${text}: raise retention.ms, or restore a newer backup`)
  }
  if (beyond.length > 0) {
    const where = (each: StoredPosition) => `${each.offset}, and its end is ${offsets[each.partition]!.end}`
    const text = 'The topic was made anew, or lost its newest records: events up to the position are not delivered'
    yield fail('positions', `readers are beyond the end of their partition: ${named(beyond, names, where)}. ${text}`)
  }
  if (cut.length > 0 || beyond.length > 0) return
  const farthest = read
    .map((each) => ({ each, behind: offsets[each.partition]!.end - each.offset }))
    .sort((a, b) => b.behind - a.behind)[0]
  if (farthest === undefined) yield ok('positions', 'none yet')
  else if (farthest.behind === 0) yield ok('positions', 'every reader is at the end of its partitions')
  else {
    const { reader, partition } = farthest.each
    const records = counted(farthest.behind, 'record')
    yield ok(
      'positions',
      `all lie within the topics; the farthest, ${nameOf(reader, names)} in partition ${partition}, is ${records} behind`,
    )
  }
}

function named(
  found: readonly StoredPosition[],
  names: PositionFacts['names'],
  text: (each: StoredPosition) => string,
): string {
  const shown = found
    .slice(0, MAX_NAMED)
    .map((each) => `${nameOf(each.reader, names)} in partition ${each.partition}: ${text(each)}`)
  const more = found.length > MAX_NAMED ? [`and ${found.length - MAX_NAMED} more`] : []
  return [...shown, ...more].join('; ')
}

function nameOf(reader: string, names: PositionFacts['names']): string {
  const name = names.get(reader)
  return oneLine(name === undefined ? reader : `destination ${name} (${reader})`)
}
