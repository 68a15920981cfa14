import type { Source } from '@millrace/api-types'
import { useId, useMemo, useState } from 'react'
import { Choice } from '../../../components/choice.tsx'
import { CopyButton } from '../../../components/copy-button.tsx'
import { sourceTexts } from '../../../texts.ts'
import styles from '../sources.module.css'
import { filledIn } from './client-page.ts'
import { clientPagesOf } from './client-pages.ts'

/** Code to paste, with the key and the address of this source: from docs/clients, which tests run. */
export function Snippets({ source, url }: { readonly source: Source; readonly url: string }) {
  const pages = useMemo(() => clientPagesOf(source.type), [source.type])
  const [title, setTitle] = useState(pages[0]!.title)
  const { install, code, needsTls } = pages.find((page) => page.title === title) ?? pages[0]!
  const text = filledIn(code, source.writeKey, url)
  const headingId = useId()
  return (
    <section aria-labelledby={headingId}>
      <div className={styles.snippetHead}>
        <h2 id={headingId}>Send from</h2>
        <Choice
          label="Send from"
          options={pages.map((page) => ({ value: page.title, text: page.title.replace(/^Web: /, '') }))}
          value={title}
          onChange={setTitle}
        />
        <CopyButton text={text} what="snippet" />
      </div>
      {install !== undefined && <Code text={install} label="Install" />}
      {needsTls && !url.startsWith('https:') && <p className={styles.snippetNote}>{sourceTexts.needsTls}</p>}
      <Code text={text} label="Code for the first event" />
    </section>
  )
}

function Code({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard
    <section className={styles.snippet} tabIndex={0} aria-label={label}>
      <pre>{text}</pre>
    </section>
  )
}
