import { Button } from '@mantine/core'
import type { JsonValue } from '@millrace/protocol/json'
import { useState } from 'react'
import { pageTexts } from '../../texts.ts'
import { DiffView } from '../diff/diff-view.tsx'
import styles from './changed-meanwhile.module.css'

interface ChangedMeanwhileProps {
  /** `source`, `destination`. */
  readonly thing: string
  /** The current state on the server; undefined while it loads. */
  readonly theirs: JsonValue | undefined
  /** The input; undefined while it cannot be read. */
  readonly mine: JsonValue | undefined
  /** Discards the input. */
  readonly onLoadTheirs: () => void
  /** Saves the input and overwrites the other change. */
  readonly onKeepMine: () => void
}

/** Another user saved first, so the server refused the write (412). */
export function ChangedMeanwhile({ thing, theirs, mine, onLoadTheirs, onKeepMine }: ChangedMeanwhileProps) {
  const [isShown, setShown] = useState(false)
  return (
    <div className={styles.notice} role="alert">
      <p>{pageTexts.changedMeanwhile(thing)}</p>
      <div className={styles.actions}>
        <Button
          variant="default"
          aria-expanded={isShown}
          disabled={mine === undefined}
          onClick={() => setShown(!isShown)}
        >
          {pageTexts.seeDifference}
        </Button>
        <Button variant="default" disabled={theirs === undefined} onClick={onLoadTheirs}>
          {pageTexts.loadTheirs}
        </Button>
        <Button variant="default" disabled={theirs === undefined || mine === undefined} onClick={onKeepMine}>
          {pageTexts.keepMine}
        </Button>
      </div>
      {isShown && theirs !== undefined && mine !== undefined && (
        <DiffView before={theirs} after={mine} what="theirs, and mine" />
      )}
    </div>
  )
}
