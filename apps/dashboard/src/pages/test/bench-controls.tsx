import { Button, Checkbox, Select, Switch } from '@mantine/core'
import type { DestinationDefinition } from '@millrace/api-types'
import type { JsonObject } from '@millrace/protocol/json'
import { useId, useState } from 'react'
import { JsonField } from '../../components/form/json-field.tsx'
import { NeedsRole } from '../../components/needs-role.tsx'
import { sendText, type Workspace } from './bench-target.ts'
import styles from './test-bench.module.css'
import type { Bench } from './use-bench.ts'

interface BenchControlsProps {
  readonly bench: Bench
  readonly workspace: Workspace
  readonly definitions: readonly DestinationDefinition[]
}

/** The inputs of a run: message, target, and whether to send. */
export function BenchControls({ bench, workspace, definitions }: BenchControlsProps) {
  const [isOpened, setOpened] = useState(false)
  // Text that is not JSON stays until it is corrected.
  const isOverriding = isOpened || bench.overrideFault !== undefined
  const { target, stage, force, override } = bench
  const overrideId = useId()
  const canRun = target !== undefined && bench.isRead
  const variables = definitions.find(({ name }) => target?.kind === 'destination' && name === target.destination.type)
  return (
    <>
      <div className={styles.controls}>
        <TargetSelect bench={bench} workspace={workspace} />
        <Checkbox
          size="xs"
          label="User transformation"
          checked={stage.user_transform}
          onChange={({ currentTarget }) => bench.setStages(currentTarget.checked, stage.dest_transform)}
        />
        <Checkbox
          size="xs"
          label="Destination transformation"
          checked={stage.dest_transform}
          onChange={({ currentTarget }) => bench.setStages(stage.user_transform, currentTarget.checked)}
        />
        <NeedsRole role="editor">
          <Switch
            label="Send"
            size="xs"
            checked={stage.send_to_destination}
            onChange={({ currentTarget }) => bench.send(currentTarget.checked)}
          />
        </NeedsRole>
        <Checkbox
          size="xs"
          label="Force"
          checked={force}
          onChange={({ currentTarget }) => bench.set({ force: currentTarget.checked ? '1' : '0' })}
        />
        {target?.kind === 'destination' && (
          <NeedsRole role="editor">
            <Button
              variant="default"
              aria-expanded={isOverriding}
              aria-controls={overrideId}
              onClick={() => setOpened(!isOverriding)}
            >
              {bench.hasOverride ? 'Active overrides' : 'Overrides'}
            </Button>
          </NeedsRole>
        )}
        <div className={styles.run}>
          <Button
            disabled={!canRun}
            loading={bench.isRunning}
            {...(stage.send_to_destination ? { color: 'bad' } : {})}
            title="Ctrl or ⌘ and Enter"
            onClick={() => void bench.start()}
          >
            {stage.send_to_destination && target !== undefined
              ? sendText(target, force, definitions, override)
              : 'Run without sending'}
          </Button>
        </div>
      </div>
      {isOverriding && target?.kind === 'destination' && (
        <div id={overrideId} className={styles.override}>
          <JsonField
            key={target.id}
            label="Overrides"
            description={`Replaces the saved configuration for this run. Variables: ${(variables?.defaultConfig ?? []).join(', ')}.`}
            shape="object"
            value={bench.hasOverride ? override : undefined}
            onChange={(value) => bench.setOverride((value ?? {}) as JsonObject)}
            onFault={bench.setOverrideFault}
          />
        </div>
      )}
    </>
  )
}

function TargetSelect({ bench, workspace }: Pick<BenchControlsProps, 'bench' | 'workspace'>) {
  const { target } = bench
  const options = [
    {
      group: 'Destinations',
      items: workspace.destinations.map(({ id, name, enabled }) => option('destination', id, name, enabled)),
    },
    { group: 'Sources', items: workspace.sources.map(({ id, name, enabled }) => option('source', id, name, enabled)) },
  ]
  const choose = (value: string | null) => {
    const [kind, id] = (value ?? '').split(':')
    if (id !== undefined) bench.choose(kind as 'destination' | 'source', id)
  }
  return (
    <Select
      aria-label="Destination, or source for all its destinations"
      placeholder="Destination, or source for all its destinations"
      className={styles.target}
      data={options.filter(({ items }) => items.length > 0)}
      value={target === undefined ? null : `${target.kind}:${target.id}`}
      onChange={choose}
      searchable
      limit={200}
      maxDropdownHeight={420}
      nothingFoundMessage="No match."
      allowDeselect={false}
    />
  )
}

function option(kind: string, id: string, name: string, enabled: boolean) {
  return { value: `${kind}:${id}`, label: enabled ? name : `${name} (off)` }
}
