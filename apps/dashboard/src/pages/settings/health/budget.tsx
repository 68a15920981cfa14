import type { DeliveryState, Info } from '@millrace/api-types'
import { bytesText } from '../../../components/figures/figure-text.ts'
import { ShareBar } from '../../../components/figures/share-bar.tsx'

const MB = 1_048_576

interface BudgetProps {
  readonly deliveries: readonly DeliveryState[]
  readonly settings: Info['settings']
  /** Text of the check: `ok` below 80 %. */
  readonly warning: string | undefined
}

/** Waiting events and dead letters, as a share of the limit for all destinations. */
export function Budget({ deliveries, settings, warning = 'ok' }: BudgetProps) {
  const bytes = deliveries.reduce((sum, { backlogBytes }) => sum + backlogBytes, 0)
  const bound = settings['MILLRACE_BACKLOG_MAX_MB']
  // The default is half of the volume, which only the server knows.
  if (typeof bound !== 'number' || bound === 0) return bytesText(bytes) + (warning === 'ok' ? '' : `: ${warning}`)
  const share = bytes / (bound * MB)
  return (
    <ShareBar
      share={share}
      text={`${bytesText(bytes)} of ${bytesText(bound * MB)}`}
      tone={share >= 1 ? 'bad' : share >= 0.8 ? 'warn' : 'plain'}
    />
  )
}
