import type { Transformation } from '@millrace/api-types'
import type { JsonObject } from '@millrace/protocol/json'
import { useState } from 'react'
import {
  isNamed,
  type MessageName,
  messageOrExample,
  useMessageOrigins,
  useNamedMessage,
} from '../../../components/message-origin/use-message-origins.ts'
import { useSearchValues } from '../../../shell/search-values.ts'
import { codeSearch } from '../code-search.ts'
import { readEvents } from '../test-run.ts'

const EXAMPLE: JsonObject = { type: 'track', messageId: 'm-1', event: 'Seat Reserved', properties: { price: 18.5 } }

/** The events of a run: pasted here, or named by the link, else the newest one. */
export function useTriedEvents({ destinations: [destinationId] }: Transformation) {
  const [search, set] = useSearchValues(codeSearch)
  const origins = useMessageOrigins({
    ...(destinationId === undefined ? {} : { destinationId }),
    stage: 'user_transformation',
    isEnabled: true,
  })
  const newest = origins.recent[0]?.messageId
  const name: MessageName = isNamed(search) || newest === undefined ? search : { event: newest }
  const named = useNamedMessage(name)
  const [pasted, paste] = useState<string>()
  const shown = messageOrExample(named, name, origins, EXAMPLE)
  const text = pasted ?? (shown === undefined ? '' : JSON.stringify(shown, null, 2))
  return {
    origins,
    name,
    /** The named message has no payload any more. */
    isGone: named === null,
    text,
    read: readEvents(text),
    paste,
    choose: (name: MessageName) => {
      paste(undefined)
      set({ event: undefined, dead: undefined, sample: undefined, ...name }, 'push')
    },
  }
}
