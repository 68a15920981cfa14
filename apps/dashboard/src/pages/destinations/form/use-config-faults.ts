import type { DestinationDefinition } from '@millrace/api-types'
import type { JsonObject } from '@millrace/protocol/json'
import { useMemo, useState } from 'react'
import { configFaults } from '../../../components/form/config-faults.ts'
import { configFields } from '../../../components/form/config-field.ts'
import { fieldRefusal } from '../../../components/form/refusal.tsx'

/**
 * What is wrong with the variables: first what the browser can tell, once somebody tried to save; then what the server
 * refused.
 *
 * @see contracts/dashboard.md §9 [U14]
 */
export function useConfigFaults(definition: DestinationDefinition, config: JsonObject, error: Error | null) {
  const fields = useMemo(() => configFields(definition), [definition])
  const [isTried, setTried] = useState(false)
  const [unread, setUnread] = useState<Readonly<Record<string, string>>>({})
  const own = configFaults(fields, config, unread)
  const refused = fieldRefusal(
    error,
    fields.map(({ key }) => key),
  )
  return {
    faults: { ...(refused === undefined ? {} : { [refused.field]: refused.text }), ...(isTried ? own : {}) },
    fields,
    /** Whether the text of every field is JSON where it must be. */
    isRead: Object.keys(unread).length === 0,
    names: fields.map(({ key }) => key),
    /** Keeps the error of a field whose text is not JSON; undefined removes it. */
    onUnread: (key: string, fault: string | undefined) =>
      setUnread(({ [key]: _, ...others }) => (fault === undefined ? others : { ...others, [key]: fault })),
    /** @returns whether it is worth asking the server. */
    isWhole: () => {
      setTried(true)
      return Object.keys(own).length === 0
    },
  }
}
