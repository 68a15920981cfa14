import { CopyButton } from './copy-button.tsx'
import { shownText } from './json/shown-text.ts'
import styles from './shown-id.module.css'

interface ShownIdProps {
  readonly id: string
  /** `id`, `key`, `messageId`. */
  readonly what?: string
}

/** An id or key in full length, copied with one click. */
export function ShownId({ id, what = 'id' }: ShownIdProps) {
  return (
    <span className={styles.id}>
      <code className={styles.text}>{shownText(id)}</code>
      <CopyButton text={id} what={what} />
    </span>
  )
}
