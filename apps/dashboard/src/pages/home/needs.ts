import { counted, durationText, grouped } from '@millrace/wording'
import type { DeadLetterGroup } from '../../api/dead-letters.ts'
import { type AdminInfo, type Health, troublesOf } from '../../api/health.ts'
import type { CatalogStatus } from '../../api/schemas.ts'
import type { Source } from '../../api/sources.ts'
import { firstLine } from '../../components/json/shown-text.ts'
import type { MarkKind } from '../../components/state-mark.tsx'
import { homeTexts } from '../../texts.ts'
import type { FlowNode } from './flow.ts'

/** One thing that somebody should look at. */
interface Need {
  readonly key: string
  readonly kind: MarkKind
  /** What it is about, such as a destination. */
  readonly about: string
  readonly text: string
  readonly to: string
  readonly search: Readonly<Record<string, string>>
}

export interface NeedsData {
  readonly sources: readonly FlowNode[]
  readonly destinations: readonly FlowNode[]
  readonly groups: readonly DeadLetterGroup[]
  readonly health: Health | undefined
  readonly catalog: CatalogStatus | undefined
  readonly sourceList: readonly Source[]
  readonly info: AdminInfo | undefined
}

/** The catalog follows within a second unless it is busy. */
const LAG_SECONDS = 60
const MOST_GROUPS = 8

/** @see contracts/dashboard.md §5 */
export function needsOf(data: NeedsData): Need[] {
  return [
    ...healthNeeds(data),
    ...destinationNeeds(data),
    ...deadLetterNeeds(data),
    ...sourceNeeds(data),
    ...catalogNeeds(data),
    ...backupNeeds(data),
  ]
}

/** The storage budget is one of the checks: it warns from 80 % on. */
function healthNeeds({ health }: NeedsData): Need[] {
  if (health === undefined) return []
  return troublesOf(health).map(({ check, text }) => ({
    key: `health ${check}`,
    kind: check === 'backlog' ? 'behind' : 'failed',
    about: check.charAt(0).toUpperCase() + check.slice(1),
    text,
    to: '/settings/health',
    search: {},
  }))
}

function destinationNeeds({ destinations }: NeedsData): Need[] {
  return destinations
    .filter(({ state: { kind } }) => kind === 'failed' || kind === 'resting' || kind === 'behind')
    .toSorted((a, b) => a.state.rank - b.state.rank)
    .map(({ id, name, state }) => ({
      key: `destination ${id}`,
      kind: state.kind,
      about: name,
      text: state.word,
      to: `/destinations/${id}/overview`,
      search: {},
    }))
}

function deadLetterNeeds({ groups, destinations }: NeedsData): Need[] {
  const nameOf = new Map(destinations.map(({ id, name }) => [id, name]))
  const largest = groups.toSorted((a, b) => b.count - a.count)
  const shown = largest.slice(0, MOST_GROUPS).map(
    ({ destinationId, stage, reason, count }): Need => ({
      key: `dead ${destinationId} ${stage} ${reason}`,
      kind: 'dead',
      about: nameOf.get(destinationId) ?? destinationId,
      text: `${homeTexts.dead(count)}: ${firstLine(reason)}`,
      to: '/dead-letters',
      search: { destinationId, stage, reason },
    }),
  )
  const rest = largest.slice(MOST_GROUPS)
  if (rest.length === 0) return shown
  const count = rest.reduce((sum, group) => sum + group.count, 0)
  const text = `${homeTexts.dead(count)} for ${counted(rest.length, 'other reason')}`
  return [...shown, { key: 'dead rest', kind: 'dead', about: 'Dead letters', text, to: '/dead-letters', search: {} }]
}

function sourceNeeds({ sources }: NeedsData): Need[] {
  return sources
    .filter(({ state }) => state.kind === 'refused')
    .map(({ id, name, state }) => ({
      key: `source ${id}`,
      kind: state.kind,
      about: name,
      text: `${state.word} in 5 min`,
      to: `/sources/${id}/refused`,
      search: {},
    }))
}

function catalogNeeds({ catalog, sourceList }: NeedsData): Need[] {
  if (catalog === undefined) return []
  const lag: Need[] =
    catalog.LagSeconds <= LAG_SECONDS
      ? []
      : [
          {
            key: 'catalog lag',
            kind: 'behind',
            about: 'Schema catalog',
            text: `${durationText(catalog.LagSeconds * 1000)} behind`,
            to: '/schema',
            search: {},
          },
        ]
  const sourceOf = new Map(sourceList.map((source) => [source.writeKey, source]))
  const cuts = catalog.Sources.flatMap(({ WriteKey, Cut }): Need[] => {
    // Long arrays are cut by design, and nobody can do anything about it (docs/decisions/0049).
    const { arrayItems: _, ...others } = Cut
    const cut = Object.values(others).reduce((sum, count) => sum + count, 0)
    const source = sourceOf.get(WriteKey)
    if (cut === 0 || source === undefined) return []
    const text = `${grouped(cut)} cut from the schema catalog`
    return [
      {
        key: `cut ${source.id}`,
        kind: 'behind',
        about: source.name,
        text,
        to: '/schema',
        search: { source: source.id },
      },
    ]
  })
  return [...lag, ...cuts]
}

function backupNeeds({ info }: NeedsData): Need[] {
  if (info?.lastBackup?.state !== 'failed') return []
  const text = 'the last one failed'
  return [{ key: 'backup', kind: 'failed', about: 'Backup', text, to: '/settings/backup', search: {} }]
}
