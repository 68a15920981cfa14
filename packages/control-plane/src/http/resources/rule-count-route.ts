import { badRequest, refuseUnknownMembers } from '@millrace/openapi'
import { type ConnectionRules, formatTime, type JsonObject, ownMember, parseTime } from '@millrace/protocol'
import type { FastifyPluginAsync } from 'fastify'
import type { ControlPlane } from '../../control-plane.ts'
import { readConnectionRules } from '../../resources/connection-rules-schema.ts'
import { readText } from '../../resources/written-fields.ts'
import { RULE_COUNT_IN_WORDS } from './rule-count.openapi.ts'

const DAY_MS = 86_400_000
const MAX_DAYS = 31
const NO_RULES: ConnectionRules = { otherwise: 'allow', list: [] }

/** What rules would have done to stored events, before they are saved. @see contracts/control-plane.md §7 [D739] */
export function ruleCountRoute(controlPlane: ControlPlane): FastifyPluginAsync {
  return async (app) => {
    const config = { role: 'viewer', describe: RULE_COUNT_IN_WORDS } as const
    app.post('/connections/rule-count', { config }, async ({ body }) => {
      const written = body as JsonObject
      refuseUnknownMembers(written, ['sourceId', 'rules', 'from', 'to'])
      const sourceId = readText(written, 'sourceId')
      const rules = readConnectionRules(written, undefined) ?? NO_RULES
      const to = readTime(written, 'to', controlPlane.options.clock.now())
      const from = readTime(written, 'from', to - DAY_MS)
      if (from >= to || to - from > MAX_DAYS * DAY_MS) {
        throw badRequest(`from must be before to, by at most ${MAX_DAYS} days`)
      }
      const { decided, isComplete, countedFrom } = await controlPlane.countByRules({ sourceId, rules, from, to })
      const [otherwise = 0, ...matches] = decided
      const isSent = (i: number) => rules.list[i]!.action === 'allow'
      const sent = matches.reduce(
        (sum, count, i) => sum + (isSent(i) ? count : 0),
        rules.otherwise === 'allow' ? otherwise : 0,
      )
      return {
        from: formatTime(from),
        to: formatTime(to),
        complete: isComplete,
        countedFrom: formatTime(countedFrom),
        events: matches.reduce((sum, count) => sum + count, otherwise),
        sent,
        matches,
        otherwise,
      }
    })
  }
}

/** @throws ApiError 400 */
function readTime(written: JsonObject, member: string, otherwise: number): number {
  const value = ownMember(written, member)
  if (value === undefined) return otherwise
  const time = typeof value === 'string' ? parseTime(value) : undefined
  if (time === undefined) throw badRequest(`Invalid time in ${member}`)
  return time
}
