import { useDebouncedValue } from '@mantine/hooks'
import type { ConnectionRules } from '@millrace/api-types'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { countingByRules } from '../../../api/connections.ts'
import { serverNow } from '../../../api/requests/server-clock.ts'

/** Whoever writes is not asked for at every key. */
const WAIT_MS = 500

/**
 * What rules would have decided about the events of yesterday, by the calendar of the reader.
 *
 * @param rules undefined while they cannot be read: then the last count stays.
 */
export function useRuleCount(sourceId: string, rules: ConnectionRules | null | undefined) {
  const [counted] = useDebouncedValue(rules, WAIT_MS)
  const day = useMemo(() => yesterday(new Date(serverNow())), [])
  return useQuery({
    ...countingByRules({ sourceId, rules: counted ?? null, ...day }),
    enabled: counted !== undefined,
    placeholderData: keepPreviousData,
  })
}

/** From midnight to midnight. */
export function yesterday(now: Date): { readonly from: string; readonly to: string } {
  const to = new Date(now.getFullYear(), now.getMonth(), now.getDate())
  const from = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1)
  return { from: from.toISOString(), to: to.toISOString() }
}
