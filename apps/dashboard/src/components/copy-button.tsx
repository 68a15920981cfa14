import { useEffect, useState } from 'react'
import { Icon } from '../shell/icon.tsx'
import { commonTexts } from '../texts.ts'
import styles from './copy-button.module.css'
import { copyText } from './copy-text.ts'

interface CopyButtonProps {
  readonly text: string
  /** Name of the text: `write key`, `id`. */
  readonly what: string
}

const SAID = { copied: 'Copied', failed: 'Not allowed by the browser' } as const

/** Copies a text, and confirms it. A plain button: lists have one in each row, and its cost limits their scrolling. */
export function CopyButton({ text, what }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<keyof typeof SAID>()
  useEffect(() => {
    if (outcome === undefined) return
    const timer = setTimeout(() => setOutcome(undefined), 2000)
    return () => clearTimeout(timer)
  }, [outcome])
  const label = `${commonTexts.copy} ${what}`
  return (
    <>
      <button
        type="button"
        className={styles.button}
        aria-label={label}
        data-tip={outcome === undefined ? label : SAID[outcome]}
        onClick={(event) => {
          event.stopPropagation()
          void copyText(text).then((isDone) => setOutcome(isDone ? 'copied' : 'failed'))
        }}
      >
        <Icon name={outcome === 'copied' ? 'check' : 'copy'} size={14} />
      </button>
      <span role="status" className={styles.said}>
        {outcome !== undefined && SAID[outcome]}
      </span>
    </>
  )
}
