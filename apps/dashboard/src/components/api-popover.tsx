import { commonTexts } from '../texts.ts'
import { CommandPopover } from './command-popover.tsx'
import { curlText, type ShownRequest } from './curl-text.ts'

/** The request behind this list or form, as curl. @see contracts/dashboard.md §12 [U17] */
export function ApiPopover(request: ShownRequest) {
  return (
    <CommandPopover
      text={commonTexts.api}
      label={`${commonTexts.api}: this view as a curl command`}
      title="This view, with your token"
      command={curlText(window.location.origin, request)}
    />
  )
}
