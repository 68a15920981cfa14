import { filterReason, Screening } from '@millrace/pipeline'
import { CompiledRules, type JsonObject, ruleText, type StoredEvent } from '@millrace/protocol'
import type { TestedConnection } from './test-api-options.ts'
import type { TestedParts } from './tested-parts.ts'

/**
 * What live traffic would have done with a message. Without a source no one connection is meant: `leftOutBy` names those of
 * the destination that would leave the message out.
 *
 * @see contracts/test-api.md §11 [D232]
 */
export function liveFilters(parts: TestedParts): JsonObject {
  const { destination, run } = parts
  const own = destination.isEnabled ? ownReason(parts) : 'destination is disabled'
  const leftOutBy = own === undefined ? leavingOut(parts) : []
  const reason = own ?? (run.source === undefined ? undefined : leftOutBy[0]?.reason)
  const named = leftOutBy.length === 0 ? {} : { leftOutBy: leftOutBy.map((each) => ({ ...each })) }
  return { skipped: reason !== undefined, reason: reason ?? null, ...named }
}

function ownReason({ run, destination, module, override }: TestedParts): string | undefined {
  const { id, name } = destination
  const { source, options, message } = run
  const sourceClass = source === undefined ? '' : options.sourceClass(source.type)
  return filterReason(message as StoredEvent, { id, name, config: override.config, module }, sourceClass)
}

type LeftOut = { connectionId: string; sourceId: string; reason: string; rule?: { number: number; text: string } }

function leavingOut({ run, destination }: TestedParts): LeftOut[] {
  const { connections, sources } = run.options.configuration()
  const concerned = [...connections.values()].filter(
    ({ sourceId, destinationId }) =>
      destinationId === destination.id && (run.source === undefined || run.source.id === sourceId),
  )
  const screening = Screening.of({ destination, connections: concerned, sources })
  if (screening === undefined) return []
  return concerned.flatMap((connection) => {
    const reason = screening.reason(run.message as StoredEvent, connection.sourceId)
    if (reason === undefined) return []
    const { id: connectionId, sourceId } = connection
    return [
      { connectionId, sourceId, reason, ...(reason.startsWith('consent') ? {} : ruleOf(connection, run.message)) },
    ]
  })
}

/** The rule that decides; none does where no rule matches. */
function ruleOf({ rules }: TestedConnection, message: JsonObject): Pick<LeftOut, 'rule'> {
  const number = rules === undefined ? 0 : new CompiledRules(rules).match(message)
  return number === 0 ? {} : { rule: { number, text: ruleText(rules!.list[number - 1]!) } }
}
