import type { DeadLetterWithPayloads } from '@millrace/api-types'
import { ownPlace } from '../../components/code/failure-places.ts'
import { LinkButton } from '../../components/link-button.tsx'
import { traceTexts } from '../../texts.ts'
import { useTraceNames } from '../events/trace/use-trace-names.ts'

/** A link to the line where user code failed, with the event as its test. */
export function LetterCode({ letter }: { readonly letter: DeadLetterWithPayloads }) {
  const { destinationId, reason, messageId, transformationVersionIds } = letter
  const steps = useTraceNames().steps({ destinationId, transformationVersionIds })
  const place = ownPlace(reason)
  const search = {
    event: messageId,
    ...(place === undefined ? {} : { line: String(place.line), column: String(place.column) }),
  }
  const text = place === undefined ? traceTexts.openCodeWithEvent : traceTexts.openCodeAtLine(place.line)
  return steps.map(({ transformationId, versionId, name }) => (
    <LinkButton
      key={versionId}
      to={transformationId === undefined ? '/transformations' : `/transformations/${transformationId}/code`}
      search={search}
    >
      {steps.length > 1 ? `${text} (${name})` : text}
    </LinkButton>
  ))
}
