import { useParams } from '@tanstack/react-router'
import { ApiPopover } from '../../../components/api-popover.tsx'
import { CopyButton } from '../../../components/copy-button.tsx'
import { shownText } from '../../../components/json/shown-text.ts'
import { PageHead } from '../../../shell/page/page-head.tsx'
import { Trace } from './trace.tsx'

/** The trace of every event with one messageId. */
export function TracePage() {
  const { messageId = '' } = useParams({ strict: false }) as { messageId?: string }
  return (
    <>
      <PageHead
        title={shownText(messageId)}
        meta={<CopyButton text={messageId} what="messageId" />}
        actions={<ApiPopover path={`/v2/events/${encodeURIComponent(messageId)}`} />}
      />
      <Trace key={messageId} messageId={messageId} isWide />
    </>
  )
}
