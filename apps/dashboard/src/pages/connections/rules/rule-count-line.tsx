import type { RuleCount } from '@millrace/api-types'
import type { UseQueryResult } from '@tanstack/react-query'
import { ShareBar } from '../../../components/figures/share-bar.tsx'
import { localTime } from '../../../components/time/time-text.ts'
import { connectionTexts as texts } from '../../../texts.ts'
import styles from '../connections.module.css'

interface RuleCountLineProps {
  readonly count: Pick<UseQueryResult<RuleCount>, 'data' | 'error' | 'isFetching'>
  /** The rules cannot be saved as they are. */
  readonly isIncomplete: boolean
}

/** What the rules would have let through yesterday. */
export function RuleCountLine({ count: { data, error, isFetching }, isIncomplete }: RuleCountLineProps) {
  return (
    <section className={styles.count} aria-label="Yesterday" aria-busy={isFetching}>
      <h2 className={styles.countTitle}>Yesterday</h2>
      <CountText data={data} error={error} isIncomplete={isIncomplete} />
    </section>
  )
}

interface CountTextProps {
  readonly data: RuleCount | undefined
  readonly error: Error | null
  readonly isIncomplete: boolean
}

function CountText({ data, error, isIncomplete }: CountTextProps) {
  if (isIncomplete) return <p className={styles.dim}>{texts.incomplete}</p>
  if (error !== null) return <p className={styles.dim}>{texts.notCounted}</p>
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
