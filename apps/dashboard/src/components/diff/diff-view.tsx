import type { JsonValue } from '@millrace/protocol/json'
import { counted } from '@millrace/wording'
import { useMemo, useState } from 'react'
import { jsonText, shownText } from '../json/shown-text.ts'
import styles from './diff-view.module.css'
import { orderedLike } from './json-order.ts'
import { type DiffRow, lineDiff } from './line-diff.ts'

const CONTEXT = 3

interface DiffViewProps {
  readonly before: JsonValue
  /** Texts are compared as texts, other values as JSON. */
  readonly after: JsonValue
  /** Label for screen readers. */
  readonly what: string
  /** Text without differences. */
  readonly same?: string
}

/** The changes between two texts or JSON values, by line. */
export function DiffView({ before, after, what, same = 'No difference.' }: DiffViewProps) {
  const parts = useMemo(() => partsOf(rowsOf(before, after)), [before, after])
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set())
  if (parts.every(({ isFolded, rows }) => isFolded || rows.every(({ kind }) => kind === 'same'))) {
    return <p className={styles.same}>{same}</p>
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard
    <section className={styles.view} aria-label={what} tabIndex={0}>
      {parts.map(({ at, isFolded, rows }) =>
        isFolded && !opened.has(at) ? (
          <button key={at} type="button" className={styles.fold} onClick={() => setOpened(new Set([...opened, at]))}>
            {counted(rows.length, 'equal line')}
          </button>
        ) : (
          rows.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines of a text have no other name
            <div key={`${at}-${index}`} className={styles.row} data-kind={row.kind}>
              <span className={styles.sign}>{SIGNS[row.kind]}</span>
              <span>{row.text}</span>
            </div>
          ))
        ),
      )}
    </section>
  )
}

const SIGNS = { same: ' ', added: '+', removed: '−' }

interface Part {
  /** Index of its first row. */
  readonly at: number
  /** Equal lines that are far from every change. */
  readonly isFolded: boolean
  readonly rows: readonly DiffRow[]
}

function rowsOf(before: JsonValue, after: JsonValue): DiffRow[] {
  if (typeof before === 'string' && typeof after === 'string') return lineDiff(shownText(before), shownText(after))
  return lineDiff(jsonText(before), jsonText(orderedLike(after, before)))
}

function partsOf(rows: readonly DiffRow[]): Part[] {
  const near = new Uint8Array(rows.length)
  rows.forEach(({ kind }, at) => {
    if (kind !== 'same') near.fill(1, Math.max(0, at - CONTEXT), at + CONTEXT + 1)
  })
  const parts: { at: number; isFolded: boolean; rows: DiffRow[] }[] = []
  rows.forEach((row, at) => {
    const isFolded = near[at] === 0
    const last = parts.at(-1)
    if (last?.isFolded === isFolded) last.rows.push(row)
    else parts.push({ at, isFolded, rows: [row] })
  })
  return parts
}
