import { Modal } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useRouter } from '@tanstack/react-router'
import { type KeyboardEvent, useEffect, useId, useState } from 'react'
import { Icon } from '../icon.tsx'
import { takeHeldKeys } from '../keys/held-keys.ts'
import styles from '../palette.module.css'
import { ANY_TEXT_KEY, type PaletteEntry, usePaletteEntries } from './palette-entries.ts'

/** Short enough to feel immediate, long enough to avoid a request for each letter. */
const PAUSE_MS = 120

interface PaletteProps {
  readonly onClose: () => void
  readonly onKeys: () => void
}

/** Finds any page, resource or event by typed text. */
export function Palette({ onClose, onKeys }: PaletteProps) {
  const [written, setWritten] = useState('')
  const [asked] = useDebouncedValue(written.trim(), PAUSE_MS)
  const [chosen, setChosen] = useState(0)
  const router = useRouter()
  const listId = useId()
  const { entries, isSearching } = usePaletteEntries(written.trim(), asked, onKeys)
  const at = Math.min(chosen, entries.length - 1)
  // Nothing else matches yet. Before the server answers, Enter must not take "cinema" for a messageId.
  const mustWait = isSearching && chosen === 0 && entries[0]?.key === ANY_TEXT_KEY

  const run = (index: number) => {
    const entry = entries[index]
    if (entry === undefined) return
    onClose()
    if ('run' in entry) entry.run()
    else void router.navigate({ to: entry.to, params: entry.params as never, search: entry.search as never })
  }
  const [isEntered, setEntered] = useState(false)
  const takeKeys = () => {
    const held = takeHeldKeys()
    if (held.text !== '') setWritten((before) => before + held.text)
    setEntered(held.isEntered)
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, with the entries of that moment
  useEffect(() => {
    if (isEntered && !mustWait) run(at)
  }, [isEntered, mustWait])
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) setChosen((at + step + entries.length) % Math.max(entries.length, 1))
    else if (event.key === 'Enter') setEntered(true)
    else return
    event.preventDefault()
  }

  return (
    <Modal
      opened
      onClose={onClose}
      withCloseButton={false}
      centered={false}
      yOffset="12vh"
      padding={0}
      size={600}
      attributes={{ content: { 'aria-label': 'Search or go to' } }}
    >
      <div className={styles.field}>
        <Icon name="search" />
        <input
          className={styles.input}
          role="combobox"
          aria-label="Search or go to"
          aria-expanded="true"
          aria-controls={listId}
          aria-activedescendant={entries.length === 0 ? undefined : `${listId}-${at}`}
          placeholder="A page, a name, an id, a messageId"
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          onFocus={takeKeys}
          value={written}
          onChange={({ currentTarget }) => {
            setWritten(currentTarget.value)
            setChosen(0)
            setEntered(false)
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <PaletteList id={listId} entries={entries} at={at} onPoint={setChosen} onRun={run} />
    </Modal>
  )
}

interface PaletteListProps {
  readonly id: string
  readonly entries: readonly PaletteEntry[]
  /** Index of the entry that Enter runs. */
  readonly at: number
  readonly onPoint: (index: number) => void
  readonly onRun: (index: number) => void
}

function PaletteList({ id, entries, at, onPoint, onRun }: PaletteListProps) {
  return (
    <div role="listbox" id={id} aria-label="Results" className={styles.list} tabIndex={-1}>
      {entries.map(({ key, text, kind, icon }, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the field above takes the keys
        <div
          key={key}
          id={`${id}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === at}
          className={styles.entry}
          ref={index === at ? (element) => element?.scrollIntoView({ block: 'nearest' }) : undefined}
          onMouseMove={() => onPoint(index)}
          onClick={() => onRun(index)}
        >
          <Icon name={icon} />
          <span className={styles.text}>{text}</span>
          <span className={styles.kind}>{kind}</span>
        </div>
      ))}
      {entries.length === 0 && <p className={styles.none}>No results.</p>}
    </div>
  )
}
