import { Button } from '@mantine/core'
import type { Connection, EventTrace, Journey } from '@millrace/api-types'
import { useConnections } from '../../../api/connections.ts'
import type { FailurePlace } from '../../../components/code/failure-places.ts'
import { LinkButton } from '../../../components/link-button.tsx'
import { traceTexts as texts } from '../../../texts.ts'
import type { TraceAction } from './outcome-sentence.ts'
import { SendAgain } from './send-again.tsx'
import { SendNow } from './send-now.tsx'
import type { NamedStep } from './use-trace-names.ts'

interface LaneActionProps {
  readonly action: TraceAction
  readonly trace: EventTrace
  readonly journey: Journey
  readonly steps: readonly NamedStep[]
  readonly onShowPayload: () => void
}

/** Actions for an outcome. */
export function LaneAction({ action, trace, journey, steps, onShowPayload }: LaneActionProps) {
  const { destinationId } = journey
  const { messageId } = trace
  const asTest = { destination: destinationId, event: messageId }
  switch (action.kind) {
    case 'use-as-test':
      return <ActionLink to="/test" search={asTest} text={texts.useAsTest} />
    case 'test-bench':
      return <ActionLink to="/test" search={asTest} text={texts.openInTestBench} />
    case 'show-payload':
      return (
        <Button variant="default" onClick={onShowPayload}>
          {texts.showInPayload}
        </Button>
      )
    case 'send-now':
      return <SendNow trace={trace} destinationId={destinationId} />
    case 'send-again':
      return <SendAgain letterId={action.letterId} />
    case 'open-config':
      return <ActionLink to={`/destinations/${destinationId}/config`} text={texts.openConfig} />
    case 'open-rules':
      return <OpenRules sourceId={trace.sourceId} destinationId={destinationId} />
    case 'open-destination':
      return <ActionLink to={`/destinations/${destinationId}/overview`} text={texts.openDestination} />
    case 'open-message':
      return (
        <ActionLink to={`/events/${encodeURIComponent(action.messageId)}`} text={texts.openMessage(action.messageId)} />
      )
    case 'open-code':
      return steps.map(({ transformationId, versionId, name }) => (
        <ActionLink
          key={versionId}
          to={transformationId === undefined ? '/transformations' : `/transformations/${transformationId}/code`}
          search={{ event: messageId, ...searchOf(action.place) }}
          text={codeText(action.place) + (steps.length > 1 ? ` (${name})` : '')}
        />
      ))
  }
}

function OpenRules({ sourceId, destinationId }: Pick<Connection, 'sourceId' | 'destinationId'>) {
  const { data = [] } = useConnections()
  const connection = data.find((each) => each.sourceId === sourceId && each.destinationId === destinationId)
  // One that was removed since has no rules any more.
  const to = connection === undefined ? `/destinations/${destinationId}/connections` : `/connections/${connection.id}`
  return <ActionLink to={to} text={texts.openRules} />
}

function codeText(place: FailurePlace | undefined): string {
  return place === undefined ? texts.openCodeWithEvent : texts.openCodeAtLine(place.line)
}

/** In the form that the code page reads. */
function searchOf(place: FailurePlace | undefined): Record<string, string> {
  return place === undefined ? {} : { line: String(place.line), column: String(place.column) }
}

interface ActionLinkProps {
  readonly to: string
  readonly search?: Readonly<Record<string, string>>
  readonly text: string
}

function ActionLink({ to, search, text }: ActionLinkProps) {
  return (
    <LinkButton variant="default" to={to} {...(search && { search })}>
      {text}
    </LinkButton>
  )
}
