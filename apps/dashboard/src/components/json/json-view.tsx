import { Button } from '@mantine/core'
import { useMemo, useState } from 'react'
import { commonTexts } from '../../texts.ts'
import { CopyButton } from '../copy-button.tsx'
import { jsonTokens } from './json-tokens.ts'
import styles from './json-view.module.css'
import { jsonText, shownText } from './shown-text.ts'

const SHOWN_CHARACTERS = 200_000
const COLOURED_CHARACTERS = 60_000

interface JsonViewProps {
  /** A string is shown as plain text. */
  readonly value: unknown
  /** Name for screen readers and the copy button: `event`, `answer`. */
  readonly what: string
  /** For a value that may be long: it scrolls. */
  readonly maxHeight?: number
}

/** A payload as text: never as markup or a link. */
export function JsonView({ value, what, maxHeight }: JsonViewProps) {
  const [isWhole, setWhole] = useState(false)
  const text = useMemo(() => (typeof value === 'string' ? shownText(value) : jsonText(value)), [value])
  const isCut = !isWhole && text.length > SHOWN_CHARACTERS
  const shown = isCut ? text.slice(0, SHOWN_CHARACTERS) : text
  const isColoured = typeof value !== 'string' && shown.length <= COLOURED_CHARACTERS
  return (
    <div className={styles.view}>
      <div className={styles.copy}>
        <CopyButton text={typeof value === 'string' ? value : JSON.stringify(value, null, 2)} what={what} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
      <section className={styles.text} style={{ maxHeight }} tabIndex={0} aria-label={what}>
        <pre>
          {isColoured
            ? jsonTokens(shown).map(({ kind, text }, at) =>
                kind === 'rest' ? (
                  text
                ) : (
                  // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text have no other name
                  <span key={at} className={styles[kind]}>
                    {text}
                  </span>
                ),
              )
            : shown}
        </pre>
      </section>
      {isCut && (
        <Button variant="default" className={styles.all} onClick={() => setWhole(true)}>
          {commonTexts.showAll}
        </Button>
      )}
    </div>
  )
}
