import type { EventTrace } from '@millrace/api-types'
import { StateMark } from '../../../components/state-mark.tsx'
import { traceTexts } from '../../../texts.ts'
import { SendNow } from './send-now.tsx'
import styles from './trace.module.css'
import type { TraceNames } from './use-trace-names.ts'

/** Destinations that are not targets of this event. */
export function OtherLanes({ trace, names }: { readonly trace: EventTrace; readonly names: TraceNames }) {
  return names.others(trace.sourceId, trace.destinations).map(({ destination: { id, name }, isConnected }) => (
    <div key={id} className={styles.other}>
      <span className={styles.laneName}>{name}</span>
      <StateMark kind="off">
        {isConnected ? 'Connected after this event was accepted.' : traceTexts.notConnected}
      </StateMark>
      {isConnected && <SendNow trace={trace} destinationId={id} />}
    </div>
  ))
}
