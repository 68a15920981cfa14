import { Button, TextInput } from '@mantine/core'
import type { TransformationTest } from '@millrace/api-types'
import type { JsonValue } from '@millrace/protocol/json'
import { type FormEvent, useState } from 'react'
import { ApiError } from '../../api/requests/client.ts'
import { useSaveTransformationTests, useTransformationTests } from '../../api/transformations.ts'
import { CodeEditor } from '../../components/editor/code-editor.tsx'
import { FaultLines } from '../../components/fault-lines.tsx'
import { ChangedMeanwhile } from '../../components/form/changed-meanwhile.tsx'
import { fieldRefusal, Refusal } from '../../components/form/refusal.tsx'
import { type StoredTests, withTest } from './stored-tests.ts'
import { eventsText, readEvents, readExpected, type WrittenEvents } from './test-run.ts'
import styles from './transformations.module.css'

const FIELDS = ['name']

interface EditTestProps {
  readonly transformationId: string
  readonly test: TransformationTest
  /** The tests when the input began: a save replaces all of them. */
  readonly stored: StoredTests
  readonly onSaved: () => void
  readonly onClose: () => void
}

/** The form of one stored test. It does not overwrite a concurrent change. */
export function EditTest({ transformationId, test, stored, onSaved, onClose }: EditTestProps) {
  const [begun, setBegun] = useState(stored)
  const [name, setName] = useState(test.name)
  const [input, setInput] = useState(() => eventsText(test.input))
  const [expected, setExpected] = useState(() => eventsText(test.expectedOutput))
  const { mutateAsync, error, isPending, reset } = useSaveTransformationTests()
  const current = useTransformationTests(transformationId)
  const [read, readOut] = [readEvents(input), readExpected(expected)]
  const written: TransformationTest | undefined =
    'events' in read && 'events' in readOut
      ? { id: test.id, name, input: read.events, expectedOutput: readOut.events }
      : undefined

  const save = async ({ tests, etag }: StoredTests) => {
    if (written === undefined) return
    // The error is shown above the fields.
    const saved = await mutateAsync({ id: transformationId, etag, tests: withTest(tests, written) }).catch(
      () => undefined,
    )
    if (saved === undefined) return void current.refetch()
    onSaved()
    onClose()
  }
  const theirs = current.data?.tests.find(({ id }) => id === test.id)
  const loadTheirs = () => {
    if (current.data === undefined || theirs === undefined) return onClose()
    setBegun(current.data)
    setName(theirs.name)
    setInput(eventsText(theirs.input))
    setExpected(eventsText(theirs.expectedOutput))
    reset()
  }

  return (
    <form
      className={styles.editedTest}
      onSubmit={(event: FormEvent) => {
        event.preventDefault()
        void save(begun)
      }}
    >
      {error instanceof ApiError && error.kind === 'changed' ? (
        <ChangedMeanwhile
          thing="transformation"
          theirs={current.isFetching ? undefined : shown(theirs)}
          mine={written && shown(written)}
          onLoadTheirs={loadTheirs}
          onKeepMine={() => current.data !== undefined && void save(current.data)}
        />
      ) : (
        <Refusal error={error} fields={FIELDS} />
      )}
      <TextInput
        label="Name of the test"
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        error={fieldRefusal(error, FIELDS)?.text}
        required
        maxLength={200}
        data-autofocus
      />
      <div className={styles.testSides}>
        <EventsEditor label="Events" text={input} read={read} onChange={setInput} />
        <EventsEditor label="Expected events" text={expected} read={readOut} onChange={setExpected} />
      </div>
      <div className={styles.actions}>
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" disabled={written === undefined} loading={isPending}>
          Save test
        </Button>
      </div>
    </form>
  )
}

interface EventsEditorProps {
  readonly label: string
  readonly text: string
  readonly read: WrittenEvents
  readonly onChange: (text: string) => void
}

function EventsEditor({ label, text, read, onChange }: EventsEditorProps) {
  const fault = 'fault' in read ? read.fault : undefined
  return (
    <div>
      <p className={styles.dim}>{label}</p>
      <CodeEditor
        label={label}
        language="json"
        value={text}
        onChange={onChange}
        faults={fault === undefined ? [] : [fault]}
        minHeight={120}
        maxHeight="48vh"
      />
      <FaultLines faults={fault === undefined ? [] : [fault]} />
    </div>
  )
}

/** Null: the test does not exist any more. */
function shown(test: TransformationTest | undefined): JsonValue {
  if (test === undefined) return null
  const { name, input, expectedOutput } = test
  return { name, input: [...input], expectedOutput: [...expectedOutput] }
}
