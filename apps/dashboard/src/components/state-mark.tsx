import styles from './state-mark.module.css'

/** Shape and colour of a state; the word beside it explains both. */
const SHAPES = {
  ok: '●',
  off: '○',
  waiting: '◌',
  behind: '▲',
  refused: '▲',
  resting: '◆',
  dead: '■',
  failed: '✕',
} as const

export type MarkKind = keyof typeof SHAPES

interface StateMarkProps {
  readonly kind: MarkKind
  /** Empty if the word is elsewhere. */
  readonly children: string
}

export function StateMark({ kind, children }: StateMarkProps) {
  return (
    <span className={styles.mark} data-kind={kind}>
      <span aria-hidden="true" className={styles.shape}>
        {SHAPES[kind]}
      </span>
      {children !== '' && <span className={styles.word}>{children}</span>}
    </span>
  )
}

/** The mark of a resource that can be disabled. */
export function OnOffMark({ isOn }: { readonly isOn: boolean }) {
  return <StateMark kind={isOn ? 'ok' : 'off'}>{isOn ? 'on' : 'off'}</StateMark>
}
