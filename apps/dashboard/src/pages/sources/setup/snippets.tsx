import { useId, useState } from 'react'
import type { Source, SourceType } from '../../../api/sources.ts'
import { Choice } from '../../../components/choice.tsx'
import { CopyButton } from '../../../components/copy-button.tsx'
import styles from '../sources.module.css'
import { type SnippetName, snippetsOf, snippetText } from './snippet-texts.ts'

/** Ready to paste, with the key and the address of this source in it. */
export function Snippets({ source, url }: { readonly source: Source; readonly url: string }) {
  const [name, setName] = useState<SnippetName>(fittingSnippet(source.type))
  const text = snippetText(name, source.writeKey, url)
  const headingId = useId()
  return (
    <section aria-labelledby={headingId}>
      <div className={styles.snippetHead}>
        <h2 id={headingId}>Send from</h2>
        <Choice
          label="Send from"
          options={snippetsOf(source.type).map((value) => ({ value, text: value }))}
          value={name}
          onChange={setName}
        />
        <CopyButton text={text} what="snippet" />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
      <pre className={styles.snippet} tabIndex={0}>
        {text}
      </pre>
    </section>
  )
}

function fittingSnippet(type: SourceType): SnippetName {
  if (type === 'Cordova') return 'Cordova'
  if (type === 'Node' || type === 'Webhook') return type
  return type === 'Javascript' || type === 'Pixel' ? 'Browser' : 'curl'
}
