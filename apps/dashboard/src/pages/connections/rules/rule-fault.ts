import type { ConnectionRules } from '@millrace/api-types'
import type { JsonValue } from '@millrace/protocol/json'
import { RuleFaultError, readRules } from '@millrace/protocol/read-rules'
import { ApiError } from '../../../api/requests/failure.ts'

/** What is wrong with the rules, at a JSON pointer from the rules on. */
export interface RuleFault {
  readonly path: string
  readonly text: string
}

/** What the server would refuse. */
export function faultIn(rules: ConnectionRules | null): RuleFault | undefined {
  try {
    readRules(rules as unknown as JsonValue)
    return undefined
  } catch (error) {
    if (error instanceof RuleFaultError) return { path: error.path, text: error.message }
    throw error
  }
}

/** What the server has refused of the rules. */
export function refusedRule(error: Error | null): RuleFault | undefined {
  if (!(error instanceof ApiError) || error.kind !== 'refused') return undefined
  const { path, message } = error.details ?? {}
  if (typeof path !== 'string' || !path.startsWith('/rules')) return undefined
  return { path: path.slice('/rules'.length), text: String(message) }
}

/** The same from the part on; undefined where it is elsewhere. */
export function faultBelow(fault: RuleFault | undefined, path: string): RuleFault | undefined {
  if (fault === undefined || !(fault.path === path || fault.path.startsWith(`${path}/`))) return undefined
  return { path: fault.path.slice(path.length), text: fault.text }
}
