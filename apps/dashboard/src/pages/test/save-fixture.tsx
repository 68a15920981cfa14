import { Button } from '@mantine/core'
import { useState } from 'react'
import { useTestDestination } from '../../api/test-api.ts'
import { Refusal } from '../../components/form/refusal.tsx'
import { saveFile } from '../../components/save-file.ts'
import { testBenchTexts } from '../../texts.ts'
import { fixtureFileName, fixtureTests } from './bench-fixture.ts'
import styles from './test-bench.module.css'
import type { Bench } from './use-bench.ts'

const ENDING = '.millrace-test.yaml'

/**
 * Saves the message with the results of the saved configuration. It runs again, because the shown run may have sent
 * requests, used overrides, or skipped stages.
 */
export function SaveFixture({ bench }: { readonly bench: Bench }) {
  const { target, message, stage, hasOverride } = bench
  const { mutateAsync, isPending, error } = useTestDestination()
  const [saved, setSaved] = useState('')
  const hasStage = stage.user_transform || stage.dest_transform
  if (target === undefined || target.kind === 'source') return null
  const { destination } = target
  const save = async () => {
    if (message === undefined) return
    const hasCode = destination.transformationIds.length > 0
    const flags = {
      user_transform: stage.user_transform || hasCode,
      dest_transform: stage.dest_transform,
      send_to_destination: false,
    }
    // The error is shown beside.
    const answer = await mutateAsync({ id: destination.id, force: true, stage: flags, message }).catch(() => undefined)
    if (answer === undefined || 'error' in answer.body) return setSaved(answer === undefined ? '' : 'Nothing to save.')
    const name = `${nameOf(message)} to ${destination.name}`
    const asked = { ...flags, user_transform: stage.user_transform }
    const { fixtureFile } = await import('./fixture-file.ts')
    const tests = fixtureTests(name, destination.key, message, asked, answer.body)
    if (tests.length === 0) return setSaved('Nothing to save: no stage ran.')
    const file = `${fixtureFileName(name)}${ENDING}`
    saveFile(file, fixtureFile(tests))
    setSaved(`Saved ${file}.`)
  }
  return (
    <>
      <span role="status" className={styles.saved}>
        {saved}
      </span>
      <Refusal error={error} />
      <Button
        variant="default"
        loading={isPending}
        disabled={message === undefined || !hasStage || hasOverride}
        title={hasOverride ? 'A fixture uses the saved configuration: remove the overrides.' : undefined}
        onClick={() => void save()}
      >
        {testBenchTexts.saveAsFixture}
      </Button>
    </>
  )
}

function nameOf({ type, event, name }: { readonly [member: string]: unknown }): string {
  return [type, event ?? name].filter((part) => typeof part === 'string' && part !== '').join(' ')
}
