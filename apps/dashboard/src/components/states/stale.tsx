import { Button } from '@mantine/core'
import { ApiError } from '../../api/requests/failure.ts'
import { useSilentSince } from '../../api/requests/silence.ts'
import { pageTexts } from '../../texts.ts'
import { localTime } from '../time/time-text.ts'
import { FailureText } from './failed.tsx'
import type { ReadState } from './read-state.ts'
import styles from './states.module.css'
import { useClock } from './use-clock.ts'

/**
 * Above old data: the refresh failed, or the server has been silent for 3 s. Nothing if all works.
 *
 * @see contracts/dashboard.md §2
 */
export function Stale({ of }: { readonly of: ReadState<unknown> }) {
  const silentSince = useSilentSince()
  const { error } = of
  if (error === null) return silentSince === null || !of.isFetching ? null : <Silent of={of} since={silentSince} />
  // The sign-in dialog over the page shows it.
  if (error instanceof ApiError && error.kind === 'session') return null
  return (
    <div className={styles.notice} role="status" aria-relevant="additions">
      <span>
        {pageTexts.asOf(readAt(of))} <FailureText of={of} error={error} />
      </span>
      {error instanceof ApiError && error.kind === 'server' && (
        <Button variant="default" onClick={() => of.refetch()}>
          {pageTexts.retry}
        </Button>
      )}
    </div>
  )
}

function Silent({ of, since }: { readonly of: ReadState<unknown>; readonly since: number }) {
  const seconds = Math.floor((useClock(true) - since) / 1000)
  return (
    <div className={styles.notice} role="status" aria-atomic="false" aria-relevant="additions">
      <b>{pageTexts.asOfSilent(readAt(of))}</b>
      <span>{pageTexts.silent(Math.max(3, seconds))}</span>
    </div>
  )
}

function readAt({ dataUpdatedAt }: ReadState<unknown>): string {
  return localTime(new Date(dataUpdatedAt), new Date(), 'second')
}
