import { Button, NumberInput, Select, Switch, TextInput } from '@mantine/core'
import type { Source, SourceConfig, SourceWritten } from '@millrace/api-types'
import type { FormEvent } from 'react'
import { useChangeSource, useSource } from '../../../api/sources.ts'
import { ApiPopover } from '../../../components/api-popover.tsx'
import { EditedRefusal } from '../../../components/form/edited-refusal.tsx'
import { fieldRefusal } from '../../../components/form/refusal.tsx'
import { type EditedKind, useEdited } from '../../../components/form/use-edited.ts'
import { NeedsRole, useMay } from '../../../components/needs-role.tsx'
import { consentTexts } from '../../../texts.ts'
import type { SourceTabProps } from '../source-tab-props.ts'
import styles from '../sources.module.css'
import { SourceDanger } from './source-danger.tsx'
import { WebhookFields } from './webhook-fields.tsx'

const FIELDS = ['name', 'enabled', 'rateLimitEventsPerMinute', 'dedupWindowSeconds', 'orderShards', 'catalog']

const SOURCE: EditedKind<Source, SourceWritten, { source: Source }> = {
  useOne: useSource,
  useChange: useChangeSource,
  oneOf: ({ source }) => source,
}

export function SourceSettings({ source }: SourceTabProps) {
  const edited = useEdited(SOURCE, source, writable)
  const { written, change, error } = edited
  const mayEdit = useMay('editor')
  const refused = fieldRefusal(error, FIELDS)
  const configure = (changes: Partial<SourceConfig>) => change({ config: { ...written.config, ...changes } })
  const errorOf = (field: string) => (refused?.field === field ? refused.text : undefined)

  return (
    <>
      <form
        className={styles.form}
        onSubmit={(event: FormEvent) => {
          event.preventDefault()
          void edited.save()
        }}
      >
        <EditedRefusal thing="source" edited={edited} fields={FIELDS} />
        <TextInput
          label="Name"
          value={written.name}
          onChange={({ currentTarget }) => change({ name: currentTarget.value })}
          error={errorOf('name')}
          required
          maxLength={200}
          disabled={!mayEdit}
        />
        <Switch
          label="Takes events"
          description="If off, its write key is refused at once."
          checked={written.enabled}
          onChange={({ currentTarget }) => change({ enabled: currentTarget.checked })}
          disabled={!mayEdit}
        />
        <NumberInput
          label="Rate limit"
          description="Events per minute; 0: no limit."
          value={written.config.rateLimitEventsPerMinute}
          onChange={(value) => configure({ rateLimitEventsPerMinute: Number(value) })}
          error={errorOf('rateLimitEventsPerMinute')}
          min={0}
          allowDecimal={false}
          thousandSeparator=","
          disabled={!mayEdit}
        />
        <NumberInput
          label="Duplicates"
          description="Seconds during which a repeated messageId is dropped; 0: off."
          value={written.config.dedupWindowSeconds}
          onChange={(value) => configure({ dedupWindowSeconds: Number(value) })}
          error={errorOf('dedupWindowSeconds')}
          min={0}
          max={86_400}
          allowDecimal={false}
          thousandSeparator=","
          disabled={!mayEdit}
        />
        <NumberInput
          label="Order shards"
          description="1 keeps the order of all events; higher values spread users over a cluster."
          value={written.config.orderShards}
          onChange={(value) => configure({ orderShards: Number(value) })}
          error={errorOf('orderShards')}
          min={1}
          max={64}
          allowDecimal={false}
          disabled={!mayEdit}
        />
        <Select
          label="Samples in the schema"
          data={[
            { value: 'full', label: 'Full' },
            { value: 'masked', label: 'Values masked' },
            { value: 'off', label: 'None' },
          ]}
          value={written.config.catalog.samples}
          onChange={(value) =>
            value !== null && configure({ catalog: { ...written.config.catalog, samples: value as 'full' } })
          }
          allowDeselect={false}
          disabled={!mayEdit}
        />
        <Switch
          label="Frequent values in the schema"
          checked={written.config.catalog.values === 'on'}
          onChange={({ currentTarget }) =>
            configure({ catalog: { ...written.config.catalog, values: currentTarget.checked ? 'on' : 'off' } })
          }
          disabled={!mayEdit}
        />
        <Select
          label="Events without consent"
          description={consentTexts.withoutConsent}
          data={[
            { value: 'send', label: 'Send' },
            { value: 'hold_back', label: 'Do not send' },
          ]}
          value={written.config.withoutConsent ?? 'send'}
          onChange={(value) => value !== null && configure({ withoutConsent: value as 'send' | 'hold_back' })}
          allowDeselect={false}
          disabled={!mayEdit}
        />
        {written.config.webhook !== undefined && (
          <WebhookFields
            config={written.config.webhook}
            onChange={(webhook) => configure({ webhook })}
            disabled={!mayEdit}
          />
        )}
        <div className={styles.formActions}>
          <NeedsRole role="editor">
            <Button type="submit" loading={edited.isPending} disabled={!edited.hasInput}>
              Save
            </Button>
          </NeedsRole>
          <ApiPopover method="PATCH" path={`/v2/sources/${source.id}`} body={written} />
          <span role="status" className={styles.dim}>
            {edited.isSaved && !edited.hasInput && 'Saved.'}
          </span>
        </div>
      </form>
      <SourceDanger source={source} />
    </>
  )
}

function writable({ name, enabled, config }: Source) {
  return { name, enabled, config }
}
