import { Button, NumberInput, Select, Switch, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { ApiError } from '../../../api/client.ts'
import { type Source, type SourceConfig, useChangeSource, useSource } from '../../../api/sources.ts'
import { ApiPopover } from '../../../components/api-popover.tsx'
import { ChangedMeanwhile } from '../../../components/form/changed-meanwhile.tsx'
import { fieldRefusal, Refusal } from '../../../components/form/refusal.tsx'
import { NeedsRole, useMay } from '../../../components/needs-role.tsx'
import type { SourceTabProps } from '../source-page.tsx'
import styles from '../sources.module.css'
import { SourceDanger } from './source-danger.tsx'

const FIELDS = ['name', 'enabled', 'rateLimitEventsPerMinute', 'dedupWindowSeconds', 'orderShards', 'catalog']

type Written = Pick<Source, 'name' | 'enabled' | 'config'>

/** @see contracts/control-plane.md §5 */
export function SourceSettings({ source }: SourceTabProps) {
  const [written, setWritten] = useState<Written>(() => writable(source))
  // Of the state that the input began with; somebody may write meanwhile.
  const [etag, setEtag] = useState(source.etag)
  const { mutateAsync, error, isPending, isSuccess, reset } = useChangeSource()
  const theirs = useSource(source.id)
  const mayEdit = useMay('editor')
  const refused = fieldRefusal(error, FIELDS)
  const isChanged = error instanceof ApiError && error.kind === 'changed'
  const hasInput = JSON.stringify(written) !== JSON.stringify(writable(source))

  const change = (changes: Partial<Written>) => {
    setWritten((before) => ({ ...before, ...changes }))
    if (error !== null || isSuccess) reset()
  }
  const configure = (changes: Partial<SourceConfig>) => change({ config: { ...written.config, ...changes } })
  const save = async (ifMatch: string | null) => {
    const saved = await mutateAsync({ id: source.id, etag: ifMatch, ...written }).catch(() => undefined)
    if (saved !== undefined) setEtag(saved.etag)
    else await theirs.refetch()
  }
  const loadTheirs = () => {
    if (theirs.data === undefined) return
    setWritten(writable(theirs.data))
    setEtag(theirs.data.etag)
    reset()
  }
  const errorOf = (field: string) => (refused?.field === field ? refused.text : undefined)

  return (
    <>
      <form
        className={styles.form}
        onSubmit={(event: FormEvent) => {
          event.preventDefault()
          void save(etag)
        }}
      >
        {isChanged ? (
          <ChangedMeanwhile
            thing="source"
            theirs={theirs.data && { ...writable(theirs.data) }}
            mine={{ ...written }}
            onLoadTheirs={loadTheirs}
            onKeepMine={() => void save(theirs.data?.etag ?? null)}
          />
        ) : (
          <Refusal error={error} fields={FIELDS} />
        )}
        <TextInput
          label="Name"
          value={written.name}
          onChange={({ currentTarget }) => change({ name: currentTarget.value })}
          error={errorOf('name')}
          required
          maxLength={200}
          readOnly={!mayEdit}
        />
        <Switch
          label="Takes events"
          description="Switched off, its write key is refused at once."
          checked={written.enabled}
          onChange={({ currentTarget }) => change({ enabled: currentTarget.checked })}
          disabled={!mayEdit}
        />
        <NumberInput
          label="Rate limit"
          description="Events a minute; 0: none."
          value={written.config.rateLimitEventsPerMinute}
          onChange={(value) => configure({ rateLimitEventsPerMinute: Number(value) })}
          error={errorOf('rateLimitEventsPerMinute')}
          min={0}
          allowDecimal={false}
          thousandSeparator=","
          readOnly={!mayEdit}
        />
        <NumberInput
          label="Duplicates"
          description="For how many seconds a messageId that came before is left out; 0: never."
          value={written.config.dedupWindowSeconds}
          onChange={(value) => configure({ dedupWindowSeconds: Number(value) })}
          error={errorOf('dedupWindowSeconds')}
          min={0}
          max={86_400}
          allowDecimal={false}
          thousandSeparator=","
          readOnly={!mayEdit}
        />
        <NumberInput
          label="Order shards"
          description="1 keeps the order of all events; more spread users over a cluster."
          value={written.config.orderShards}
          onChange={(value) => configure({ orderShards: Number(value) })}
          error={errorOf('orderShards')}
          min={1}
          max={64}
          allowDecimal={false}
          readOnly={!mayEdit}
        />
        <Select
          label="Samples in the schema"
          data={[
            { value: 'full', label: 'As they came' },
            { value: 'masked', label: 'Values masked' },
            { value: 'off', label: 'None' },
          ]}
          value={written.config.catalog.samples}
          onChange={(value) =>
            value !== null && configure({ catalog: { ...written.config.catalog, samples: value as 'full' } })
          }
          allowDeselect={false}
          readOnly={!mayEdit}
        />
        <Switch
          label="Frequent values in the schema"
          checked={written.config.catalog.values === 'on'}
          onChange={({ currentTarget }) =>
            configure({ catalog: { ...written.config.catalog, values: currentTarget.checked ? 'on' : 'off' } })
          }
          disabled={!mayEdit}
        />
        <div className={styles.formActions}>
          <NeedsRole role="editor">
            <Button type="submit" loading={isPending} disabled={!hasInput}>
              Save
            </Button>
          </NeedsRole>
          <ApiPopover method="PATCH" path={`/v2/sources/${source.id}`} body={written} />
          <span role="status" className={styles.dim}>
            {isSuccess && !hasInput && 'Saved.'}
          </span>
        </div>
      </form>
      <SourceDanger source={source} />
    </>
  )
}

function writable({ name, enabled, config }: Source): Written {
  return { name, enabled, config }
}
