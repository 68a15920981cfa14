import { Button } from '@mantine/core'
import { ApiError } from '../../api/failure.ts'
import { pageTexts } from '../../texts.ts'
import { localTime } from '../time/time-text.ts'
import { FailureText } from './failed.tsx'
import type { ReadState } from './read-state.ts'
import styles from './states.module.css'

/** Above what was read before reading it again failed. */
export function Stale({ of, error }: { readonly of: ReadState<unknown>; readonly error: Error }) {
  // The sign-in that lies over the page says it.
  if (error instanceof ApiError && error.kind === 'session') return null
  return (
    <div className={styles.notice} role="status" aria-relevant="additions">
      <span>
        {pageTexts.asOf(localTime(new Date(of.dataUpdatedAt), new Date(), 'second'))}{' '}
        <FailureText of={of} error={error} />
      </span>
      {error instanceof ApiError && error.kind === 'server' && (
        <Button variant="default" onClick={() => of.refetch()}>
          {pageTexts.retry}
        </Button>
      )}
    </div>
  )
}
