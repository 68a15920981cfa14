import type { RuleCount } from '@millrace/api-types'
import { ShareBar } from '../../../components/figures/share-bar.tsx'
import { Failed } from '../../../components/states/failed.tsx'
import type { ReadState } from '../../../components/states/read-state.ts'
import { localTime } from '../../../components/time/time-text.ts'
import { connectionTexts as texts } from '../../../texts.ts'
import styles from '../connections.module.css'

interface RuleCountLineProps {
  readonly count: ReadState<RuleCount>
  /** The rules cannot be saved as they are. */
  readonly isIncomplete: boolean
}

/** What the rules would have let through yesterday. */
export function RuleCountLine({ count, isIncomplete }: RuleCountLineProps) {
  return (
    <section className={styles.count} aria-label="Yesterday" aria-busy={count.isFetching}>
      <h2 className={styles.countTitle}>Yesterday</h2>
      <CountText count={count} isIncomplete={isIncomplete} />
    </section>
  )
}

function CountText({ count, isIncomplete }: RuleCountLineProps) {
  const { data, error } = count
  if (isIncomplete) return <p className={styles.dim}>{texts.incomplete}</p>
  if (error !== null) return <Failed of={count} error={error} thing="Source" />
  if (data === undefined) return <p className={styles.dim}>{texts.counting}</p>
  const { events, sent, complete, countedFrom } = data
  return (
    <>
      {events === 0 ? (
        <p className={styles.dim}>{texts.noEvents}</p>
      ) : (
        <ShareBar share={sent / events} text={texts.sent(sent, events)} tone="plain" />
      )}
      {!complete && (
        <p className={styles.dim}>{texts.partly(localTime(new Date(countedFrom), new Date(), 'minute'))}</p>
      )}
    </>
  )
}
