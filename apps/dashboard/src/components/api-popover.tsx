import { commonTexts } from '../texts.ts'
import { CommandPopover } from './command-popover.tsx'
import { curlText, type ShownRequest } from './curl-text.ts'

interface ApiPopoverProps extends ShownRequest {
  /** Whether every field of the form can be read. */
  readonly isRead?: boolean
}

/** The request behind this list or form, as curl. @see contracts/dashboard.md §12 [U17] */
export function ApiPopover({ isRead = true, ...request }: ApiPopoverProps) {
  return (
    <CommandPopover
      text={commonTexts.api}
      label={`${commonTexts.api}: this view as a curl command`}
      title="This view, with your token"
      command={isRead ? curlText(window.location.origin, request) : undefined}
    />
  )
}
