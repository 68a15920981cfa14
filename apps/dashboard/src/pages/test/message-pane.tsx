import { Button, FileButton } from '@mantine/core'
import { useState } from 'react'
import { CodeEditor } from '../../components/editor/code-editor.tsx'
import type { CodeFault } from '../../components/editor/editor-props.ts'
import { FaultLines } from '../../components/fault-lines.tsx'
import { OriginSelect } from '../../components/message-origin/origin-select.tsx'
import type { MessageName, MessageOrigins } from '../../components/message-origin/use-message-origins.ts'
import type { SetSearch } from '../../shell/search-values.ts'
import type { BenchSearch, benchSearch } from './bench-search.ts'
import styles from './test-bench.module.css'

interface MessagePaneProps {
  readonly search: BenchSearch
  readonly set: SetSearch<typeof benchSearch>
  readonly origins: MessageOrigins
  readonly text: string
  readonly faults: readonly CodeFault[]
  readonly onWrite: (text: string) => void
  /** Called for another origin: it replaces the written message. */
  readonly onOrigin: () => void
  readonly onRun: () => void
  /** A note about the message in the link, for example that it is no longer stored. */
  readonly note?: string | undefined
}

/** The message and its origin. */
export function MessagePane({ search, set, origins, text, faults, onWrite, onOrigin, onRun, note }: MessagePaneProps) {
  const [fileNote, setFileNote] = useState<string>()
  const choose = (name: MessageName) => {
    setFileNote(undefined)
    onOrigin()
    set({ event: undefined, dead: undefined, sample: undefined, ...name }, 'push')
  }
  const openFile = async (file: File | null) => {
    if (file === null) return
    // Loads a YAML parser, which most visits do not need.
    const { messageOfFixture } = await import('./fixture-file.ts')
    const read = messageOfFixture(await file.text())
    setFileNote('fault' in read ? `${file.name}: ${read.fault}` : `Message of “${read.name}” in ${file.name}.`)
    if ('message' in read) onWrite(JSON.stringify(read.message, null, 2))
  }
  return (
    <section className={styles.pane} aria-label="Message">
      <h2>Message</h2>
      <div className={styles.origin}>
        <OriginSelect label="Origin of the message" name={search} origins={origins} onName={choose} />
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
      <FaultLines faults={faults} />
    </section>
  )
}
