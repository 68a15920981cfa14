import type { Source } from '@millrace/api-types'
import { useConnections } from '../api/connections.ts'
import { useStoredEvents } from '../api/stored-events.ts'
import { sourceTexts } from '../texts.ts'
import { LinkButton } from './link-button.tsx'
import { NeedsRole } from './needs-role.tsx'
import { StateMark } from './state-mark.tsx'
import { Notice } from './states/notice.tsx'

const POLL_MS = 10_000

/** Warns that no destination gets the events of a source; empty without events, or if it is connected. */
export function Unconnected({ source, hasButton = true }: { readonly source: Source; readonly hasButton?: boolean }) {
  const connections = useConnections().data
  const isLoose = connections?.every(({ sourceId }) => sourceId !== source.id)
  const events = useStoredEvents(isLoose ? [source] : [], POLL_MS).get(source.id) ?? 0
  if (!isLoose || events === 0) return null
  return (
    <Notice>
      <StateMark kind="refused">{sourceTexts.unconnected(events)}</StateMark>
      {hasButton && (
        <NeedsRole role="editor">
          <LinkButton to={`/sources/${source.id}/connections`}>{sourceTexts.connect}</LinkButton>
        </NeedsRole>
      )}
    </Notice>
  )
}
