import { Button, FileButton, Select } from '@mantine/core'
import { useState } from 'react'
import { CodeEditor } from '../../components/editor/code-editor.tsx'
import type { CodeFault } from '../../components/editor/editor-props.ts'
import { localTime } from '../../components/time/time-text.ts'
import type { SetSearch } from '../../shell/search-values.ts'
import type { BenchSearch, benchSearch } from './bench-search.ts'
import styles from './test-bench.module.css'
import type { MessageOrigins } from './use-bench-message.ts'

interface MessagePaneProps {
  readonly search: BenchSearch
  readonly set: SetSearch<typeof benchSearch>
  readonly origins: MessageOrigins
  readonly text: string
  readonly faults: readonly CodeFault[]
  readonly onWrite: (text: string) => void
  /** Another origin: what was written before is let go. */
  readonly onOrigin: () => void
  readonly onRun: () => void
  /** Said of what the link names, such as that it is no longer kept. */
  readonly note?: string | undefined
}

/** The message: where it comes from, and itself. */
export function MessagePane({ search, set, origins, text, faults, onWrite, onOrigin, onRun, note }: MessagePaneProps) {
  const [fileNote, setFileNote] = useState<string>()
  const { event, dead, sample } = search
  const options = optionsOf(origins)
  const value = event !== undefined ? `event:${event}` : dead !== undefined ? `dead:${dead}` : `sample:${sample}`
  const known = options.some(({ items }) => items.some((item) => item.value === value))
  const data =
    known || event === undefined ? options : [{ group: 'From the link', items: [{ value, label: event }] }, ...options]
  const choose = (chosen: string | null) => {
    if (chosen === null) return
    const [kind, id] = [chosen.slice(0, chosen.indexOf(':')), chosen.slice(chosen.indexOf(':') + 1)]
    setFileNote(undefined)
    onOrigin()
    set({ event: undefined, dead: undefined, sample: undefined, [kind]: id }, 'push')
  }
  const openFile = async (file: File | null) => {
    if (file === null) return
    // A reader of YAML, which most visits do not need.
    const { messageOfFixture } = await import('./fixture-file.ts')
    const read = messageOfFixture(await file.text())
    setFileNote('fault' in read ? `${file.name}: ${read.fault}` : `Message of “${read.name}” in ${file.name}.`)
    if ('message' in read) onWrite(JSON.stringify(read.message, null, 2))
  }
  return (
    <section className={styles.pane} aria-label="Message">
      <h2>Message</h2>
      <div className={styles.origin}>
        <Select
          aria-label="Where the message comes from"
          placeholder="A recent event, dead letter or sample"
          nothingFoundMessage="Nothing came here yet."
          className={styles.grow}
          data={data}
          value={known || event !== undefined ? value : null}
          onChange={choose}
          searchable
          maxDropdownHeight={420}
          comboboxProps={{ width: 420, position: 'bottom-start' }}
        />
        <FileButton accept=".yaml,.yml" onChange={(file) => void openFile(file)}>
          {(props) => (
            <Button variant="default" {...props}>
              Open fixture
            </Button>
          )}
        </FileButton>
      </div>
      {(fileNote ?? note) !== undefined && (
        <p className={styles.note} role="status">
          {fileNote ?? note}
        </p>
      )}
      <CodeEditor
        label="Message"
        language="json"
        value={text}
        onChange={onWrite}
        onRun={onRun}
        faults={faults}
        minHeight={280}
        maxHeight="62vh"
      />
    </section>
  )
}

function optionsOf({ recent, deadLetters, models }: MessageOrigins) {
  const now = new Date()
  const at = (time: string) => localTime(new Date(time), now, 'second')
  const named = (...parts: readonly (string | null)[]) => parts.filter((part) => part !== null && part !== '').join(' ')
  const groups = [
    {
      group: 'Recent events',
      items: recent.map(({ messageId, type, name, acceptedAt }) => ({
        value: `event:${messageId}`,
        label: `${named(type, name)} · ${at(acceptedAt)} · ${messageId}`,
      })),
    },
    {
      group: 'Dead letters',
      items: deadLetters.map(({ id, eventType, eventName, reason, deadAt }) => ({
        value: `dead:${id}`,
        label: `${named(eventType, eventName)} · ${at(deadAt)} · ${reason}`,
      })),
    },
    {
      group: 'Samples of the schema',
      items: models.map(({ EventID, EventType, EventIdentifier }) => ({
        value: `sample:${EventID}`,
        label: `${named(EventType, EventIdentifier)} · newest sample`,
      })),
    },
  ]
  return groups
    .map(({ group, items }) => ({ group, items: uniqueValues(items) }))
    .filter(({ items }) => items.length > 0)
}

/** The same messageId may have been accepted twice. */
function uniqueValues<T extends { readonly value: string }>(items: readonly T[]): T[] {
  return [...new Map(items.map((item) => [item.value, item])).values()]
}
