import { Button, MultiSelect, TextInput } from '@mantine/core'
import type { DestinationDefinition, Source, Stats } from '@millrace/api-types'
import type { JsonObject } from '@millrace/protocol/json'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useCreateConnection } from '../../../api/connections.ts'
import { useCreateDestination } from '../../../api/destinations.ts'
import { useSources } from '../../../api/sources.ts'
import { useStats } from '../../../api/stats.ts'
import { ApiPopover } from '../../../components/api-popover.tsx'
import { fieldRefusal, Refusal } from '../../../components/form/refusal.tsx'
import { submitting } from '../../../components/form/submitting.ts'
import { LinkButton } from '../../../components/link-button.tsx'
import { NeedsRole, useMay } from '../../../components/needs-role.tsx'
import styles from '../destinations.module.css'
import { ConfigFields } from './config-fields.tsx'
import { TestConnection } from './connection-test.tsx'
import { shownConfig } from './shown-config.ts'
import { useConfigFaults } from './use-config-faults.ts'

/** The only source, else the one whose event came last. */
function usedSource(sources: readonly Source[], stats: Stats | undefined): readonly string[] {
  if (sources.length === 1) return [sources[0]!.id]
  const lastAt = new Map(stats?.sources.map(({ id, lastEventAt }) => [id, lastEventAt]))
  const [last] = sources
    .filter(({ id, enabled }) => enabled && lastAt.get(id))
    .sort((a, b) => (lastAt.get(a.id)! < lastAt.get(b.id)! ? 1 : -1))
  return last === undefined ? [] : [last.id]
}

/** Creates a destination, connects it to sources, and opens its page. */
function useCreation() {
  const create = useCreateDestination()
  const connect = useCreateConnection()
  const navigate = useNavigate()
  const run = async (body: Parameters<typeof create.mutateAsync>[0], sourceIds: readonly string[]) => {
    // The form shows a refusal.
    const made = await create.mutateAsync(body).catch(() => undefined)
    if (made === undefined) return
    const { id } = made.body.destination
    const connected = await Promise.allSettled(
      sourceIds.map((sourceId) => connect.mutateAsync({ sourceId, destinationId: id })),
    )
    const isConnected = connected.every(({ status }) => status === 'fulfilled')
    const tab = isConnected ? 'overview' : 'connections'
    await navigate({ to: '/destinations/$id/$tab', params: { id, tab } as never })
  }
  return { create, isBusy: create.isPending || connect.isPending, run }
}

/** Makes a destination that is off, connected to the sources that are chosen. @see contracts/dashboard.md §9 [U15] */
export function NewDestinationForm({ definition }: { readonly definition: DestinationDefinition }) {
  const [name, setName] = useState(definition.displayName)
  const [config, setConfig] = useState<JsonObject>({})
  const [chosen, setChosen] = useState<readonly string[]>()
  const sources = useSources().data ?? []
  const stats = useStats({ seconds: 60, step: 10 }).data
  // Most want the source that is in use; another can be chosen, or none.
  const sourceIds = chosen ?? usedSource(sources, stats)
  const { create, isBusy, run } = useCreation()
  const mayEdit = useMay('editor')
  const { faults, fields, names, isRead, isWhole, onUnread } = useConfigFaults(definition, config, create.error)
  const body = { name, type: definition.name, enabled: false, config }

  const submit = submitting(async () => {
    if (isWhole()) await run(body, sourceIds)
  })
  /** A refusal is of what was written before. */
  const forget = () => create.error !== null && create.reset()
  const nameRefusal = fieldRefusal(create.error, ['name'])?.text

  return (
    <form className={styles.form} noValidate onSubmit={(event) => void submit(event)}>
      <Refusal error={create.error} fields={['name', ...names]} />
      <div className={styles.group}>
        <TextInput
          label="Name"
          description="Events can use the name in integrations."
          value={name}
          onChange={({ currentTarget }) => {
            setName(currentTarget.value)
            forget()
          }}
          error={nameRefusal}
          withAsterisk
          maxLength={200}
          disabled={!mayEdit}
        />
        <MultiSelect
          size="xs"
          label="Sources"
          description="Their events are sent here once it is enabled."
          placeholder={sourceIds.length === 0 ? 'None yet' : ''}
          data={sources.map(({ id, name }) => ({ value: id, label: name }))}
          value={[...sourceIds]}
          onChange={setChosen}
          nothingFoundMessage="No other source"
          searchable
          disabled={!mayEdit}
        />
      </div>
      <ConfigFields
        definition={definition}
        config={config}
        saved={{}}
        faults={faults}
        isRead={isRead}
        disabled={!mayEdit}
        onChange={(written) => {
          setConfig(written)
          forget()
        }}
        onUnread={onUnread}
      />
      <p className={styles.dim}>It is created disabled: test it with an event, then enable it.</p>
      <div className={styles.formActions}>
        <NeedsRole role="editor">
          <Button type="submit" loading={isBusy}>
            Create destination
          </Button>
        </NeedsRole>
        <TestConnection type={definition.name} config={config} isWhole={isWhole} />
        <LinkButton variant="default" to="/destinations/new">
          Other type
        </LinkButton>
        <ApiPopover
          method="POST"
          path="/v2/destinations"
          body={{ ...body, config: shownConfig(fields, config) }}
          isRead={isRead}
        />
      </div>
    </form>
  )
}
