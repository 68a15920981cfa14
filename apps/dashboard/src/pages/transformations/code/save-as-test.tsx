import { Button, Popover, TextInput } from '@mantine/core'
import type { Transformation } from '@millrace/api-types'
import { type FormEvent, useState } from 'react'
import { useSaveTransformationTests, useTransformationTests } from '../../../api/transformations.ts'
import { Refusal } from '../../../components/form/refusal.tsx'
import { NeedsRole } from '../../../components/needs-role.tsx'
import { newTestId, withTest } from '../stored-tests.ts'
import type { EventRun } from '../test-run.ts'
import styles from '../transformations.module.css'

interface SaveAsTestProps {
  readonly transformation: Transformation
  readonly runs: readonly EventRun[]
}

/** Saves a run as a stored test: its events, and its output. */
export function SaveAsTest({ transformation, runs }: SaveAsTestProps) {
  const stored = useTransformationTests(transformation.id)
  const { mutateAsync, error, isPending } = useSaveTransformationTests()
  const [isOpen, setOpen] = useState(false)
  const [name, setName] = useState('')
  const [saved, setSaved] = useState('')
  const save = async (event: FormEvent) => {
    event.preventDefault()
    if (stored.data === undefined) return
    const { tests, etag } = stored.data
    const test = {
      id: newTestId(tests),
      name,
      input: runs.map(({ input }) => input),
      expectedOutput: runs.flatMap(({ outputs }) => outputs),
    }
    const answer = await mutateAsync({ id: transformation.id, etag, tests: withTest(tests, test) }).catch(
      () => undefined,
    )
    if (answer === undefined) return void stored.refetch()
    setOpen(false)
    setSaved(`Saved as “${name}”.`)
    setName('')
  }
  return (
    <>
      <Popover opened={isOpen} onChange={setOpen} width={320} position="bottom-end" shadow="md" trapFocus returnFocus>
        <Popover.Target>
          <NeedsRole role="editor">
            <Button
              variant="default"
              // A failed event has no expected output.
              disabled={runs.some(({ error }) => error !== undefined)}
              onClick={() => setOpen(!isOpen)}
            >
              Save as test
            </Button>
          </NeedsRole>
        </Popover.Target>
        <Popover.Dropdown>
          <form className={styles.form} onSubmit={(event) => void save(event)}>
            <TextInput
              label="Name of the test"
              placeholder="cents are added"
              value={name}
              onChange={({ currentTarget }) => setName(currentTarget.value)}
              required
              data-autofocus
            />
            <Refusal error={error} />
            <Button type="submit" loading={isPending}>
              Save
            </Button>
          </form>
        </Popover.Dropdown>
      </Popover>
      <span role="status" className={styles.dim}>
        {saved}
      </span>
    </>
  )
}
