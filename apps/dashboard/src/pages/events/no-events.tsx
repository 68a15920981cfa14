import { useSources } from '../../api/sources.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { Empty } from '../../components/states/empty.tsx'
import { eventTexts } from '../../texts.ts'
import styles from './events.module.css'

/** Shown before the first event: how to send one. */
export function NoEvents({ sourceId }: { readonly sourceId?: string }) {
  const sources = useSources().data
  const source = sources?.find(({ id, enabled }) => (sourceId === undefined ? enabled : id === sourceId))
  const text = sendText(window.location.origin, source?.writeKey ?? '$WRITE_KEY')
  return (
    <Empty text={eventTexts.empty}>
      <div className={styles.curl}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
        <pre tabIndex={0}>{text}</pre>
        <CopyButton text={text} what="command" />
      </div>
    </Empty>
  )
}

function sendText(origin: string, writeKey: string): string {
  const event = { userId: 'u-1', event: 'Hello', properties: { from: 'curl' } }
  // Separate double quotes: the shell expands the variable.
  return [
    `curl ${origin}/v1/track`,
    `-u "${writeKey}:"`,
    "-H 'Content-Type: application/json'",
    `-d '${JSON.stringify(event)}'`,
  ].join(' \\\n  ')
}
