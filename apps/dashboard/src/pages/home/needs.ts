import type { CatalogStatus, DeadLetterGroup, Health, Info, Source } from '@millrace/api-types'
import { counted, durationText, grouped, type Waiting } from '@millrace/wording'
import { troublesOf } from '../../api/health.ts'
import { firstLine } from '../../components/json/shown-text.ts'
import type { MarkKind } from '../../components/state-mark.tsx'
import { waitingText } from '../../components/time/waiting-text.ts'
import { homeTexts, sourceTexts } from '../../texts.ts'
import type { FlowNode } from './flow.ts'

/** One problem that needs attention. */
interface Need {
  readonly key: string
  readonly kind: MarkKind
  /** Its subject, such as a destination. */
  readonly about: string
  readonly text: string
  readonly to: string
  readonly search: Readonly<Record<string, string>>
}

export interface NeedsData {
  readonly sources: readonly FlowNode[]
  readonly destinations: readonly NeedyNode[]
  readonly groups: readonly DeadLetterGroup[]
  readonly health: Pick<Health, 'acceptingEvents' | 'routingEvents' | 'checks'> | undefined
  readonly catalog: CatalogStatus | undefined
  readonly sourceList: readonly Source[]
  readonly info: Info | undefined
  /** Events of unconnected sources, by source id. */
  readonly stored: ReadonlyMap<string, number>
  /** The server's time, ms since 1970. */
  readonly now: number
}

type NeedyNode = FlowNode & { readonly waiting?: Waiting | null }

/** The catalog is up to date within a second unless it is busy. */
const LAG_SECONDS = 60
const MAX_GROUPS = 8

/** @see contracts/dashboard.md §5 */
export function needsOf(data: NeedsData): Need[] {
  return [
    ...healthNeeds(data),
    ...destinationNeeds(data),
    ...deadLetterNeeds(data),
    ...signInNeeds(data),
    ...sourceNeeds(data),
    ...catalogNeeds(data),
    ...backupNeeds(data),
  ]
}

/** The storage budget is one of the checks: it warns from 80 %. */
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

/** Destinations with one reason to wait share a row: twenty destinations on a dead host are one problem. */
function destinationNeeds({ destinations, now }: NeedsData): Need[] {
  const troubled = destinations
    .filter(({ state: { kind } }) => kind === 'failed' || kind === 'resting' || kind === 'behind')
    .toSorted((a, b) => a.state.rank - b.state.rank)
  return [...Map.groupBy(troubled, causeOf).entries()].map(([cause, [first, ...others]]): Need => {
    const { id, name, state, waiting } = first!
    const isOne = others.length === 0
    const text = waiting ? waitingText(waiting, now) : state.word
    return {
      key: `destination ${cause}`,
      kind: state.kind,
      about: isOne ? name : homeTexts.destinations(others.length + 1),
      text,
      to: isOne ? `/destinations/${id}/overview` : '/destinations',
      search: isOne ? {} : { state: STATE_NAMES[state.kind] ?? 'attention' },
    }
  })
}

const STATE_NAMES: Partial<Record<MarkKind, string>> = { failed: 'unauthorised', resting: 'resting', behind: 'behind' }

function causeOf({ id, state, waiting }: NeedyNode): string {
  if (!waiting) return id
  const { cause, status, noAnswer } = waiting
  return `${state.kind} ${cause} ${status} ${noAnswer}`
}

/** Grouped by cause, across destinations. */
function deadLetterNeeds({ groups, destinations }: NeedsData): Need[] {
  const nameOf = new Map(destinations.map(({ id, name }) => [id, name]))
  const causes = [...Map.groupBy(groups, ({ stage, reason }) => JSON.stringify([stage, reason])).values()].map(
    (group) => ({
      stage: group[0]!.stage,
      reason: group[0]!.reason,
      count: group.reduce((sum, { count }) => sum + count, 0),
      destinationIds: [...new Set(group.map(({ destinationId }) => destinationId))],
    }),
  )
  const largest = causes.toSorted((a, b) => b.count - a.count)
  const shown = largest.slice(0, MAX_GROUPS).map(({ stage, reason, count, destinationIds }): Need => {
    const [only, ...others] = destinationIds
    const isOne = others.length === 0
    return {
      key: `dead ${stage} ${reason}`,
      kind: 'dead',
      about: isOne ? (nameOf.get(only!) ?? only!) : homeTexts.destinations(destinationIds.length),
      text: `${homeTexts.dead(count)}: ${firstLine(reason)}`,
      to: '/dead-letters',
      search: isOne ? { destinationId: only!, stage, reason } : { stage, reason },
    }
  })
  const rest = largest.slice(MAX_GROUPS)
  if (rest.length === 0) return shown
  const count = rest.reduce((sum, cause) => sum + cause.count, 0)
  const text = `${homeTexts.dead(count)} for ${counted(rest.length, 'other reason')}`
  return [...shown, { key: 'dead rest', kind: 'dead', about: 'Dead letters', text, to: '/dead-letters', search: {} }]
}

function sourceNeeds({ sources, stored }: NeedsData): Need[] {
  const refused = sources.filter(({ state }) => state.kind === 'refused' && state.word !== homeTexts.unconnected)
  const loose = sources.filter(({ id }) => (stored.get(id) ?? 0) > 0)
  return [
    ...refused.map(
      ({ id, name, state }): Need => ({
        key: `source ${id}`,
        kind: state.kind,
        about: name,
        text: `${state.word} in 5 min`,
        to: `/sources/${id}/refused`,
        search: {},
      }),
    ),
    ...loose.map(
      ({ id, name }): Need => ({
        key: `loose ${id}`,
        kind: 'refused',
        about: name,
        text: sourceTexts.unconnected(stored.get(id)!),
        to: `/sources/${id}/connections`,
        search: {},
      }),
    ),
  ]
}

/** An attacker may be guessing tokens: the server has begun to refuse sign-ins. */
function signInNeeds({ info }: NeedsData): Need[] {
  const { count = 0, addresses = 0 } = info?.refusedSignIns ?? {}
  if (count === 0) return []
  return [
    {
      key: 'sign-ins',
      kind: 'failed',
      about: 'Sign-in',
      text: homeTexts.signIns(count, addresses),
      to: '/settings/audit',
      search: { kind: 'session' },
    },
  ]
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
    // Long arrays are cut by design, and the user cannot change this (docs/decisions/0049).
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
