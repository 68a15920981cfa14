import { Button, Skeleton } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { pageTexts } from '../../texts.ts'
import styles from './states.module.css'
import { useClock } from './use-clock.ts'

const UNSEEN_MS = 60
const LONG_S = 10

interface LoadingProps {
  readonly skeleton?: ReactNode
}

/** Empty at first, so fast answers do not flicker; then grey lines; after 10 s the elapsed seconds. */
export function Loading({ skeleton }: LoadingProps) {
  const client = useQueryClient()
  const [startedAt, setStartedAt] = useState(() => Date.now())
  const [isSeen, setSeen] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setSeen(true), UNSEEN_MS)
    return () => clearTimeout(timer)
  }, [])
  const waitedS = Math.floor((useClock(true) - startedAt) / 1000)
  if (!isSeen) return <div aria-busy="true" />
  return (
    <div aria-busy="true">
      {waitedS >= LONG_S && (
        <div className={styles.notice}>
          {/* The seconds go on counting, but are read out once. */}
          <span role="status" aria-atomic="false" aria-relevant="additions">
            {pageTexts.stillLoading(waitedS)}
          </span>
          <Button
            variant="default"
            onClick={() => {
              setStartedAt(Date.now())
              // A new request would wait behind the hanging one, so that one is aborted.
              void client.resetQueries({ predicate: ({ state }) => state.data === undefined })
            }}
          >
            {pageTexts.retry}
          </Button>
        </div>
      )}
      {skeleton ?? <SkeletonLines />}
    </div>
  )
}

const WIDTHS = ['62%', '48%', '70%', '55%', '40%', '66%']

function SkeletonLines() {
  return (
    <div className={styles.lines} aria-hidden="true">
      {WIDTHS.map((width) => (
        <Skeleton key={width} height={12} width={width} />
      ))}
    </div>
  )
}
