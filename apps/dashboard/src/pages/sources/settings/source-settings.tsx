import { Button, Switch, TextInput } from '@mantine/core'
import type { Source, SourceWritten } from '@millrace/api-types'
import { useChangeSource, useSource } from '../../../api/sources.ts'
import { ApiPopover } from '../../../components/api-popover.tsx'
import { EditedRefusal } from '../../../components/form/edited-refusal.tsx'
import { fieldRefusal } from '../../../components/form/refusal.tsx'
import { submitting } from '../../../components/form/submitting.ts'
import { type EditedKind, useEdited } from '../../../components/form/use-edited.ts'
import { NeedsRole, useMay } from '../../../components/needs-role.tsx'
import type { SourceTabProps } from '../source-tab-props.ts'
import styles from '../sources.module.css'
import { SourceConfigFields } from './source-config-fields.tsx'
import { SourceDanger } from './source-danger.tsx'

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
  const errorOf = (field: string) => (refused?.field === field ? refused.text : undefined)

  return (
    <>
      <form className={styles.form} onSubmit={submitting(edited.save)}>
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
        <SourceConfigFields
          config={written.config}
          errorOf={errorOf}
          disabled={!mayEdit}
          onChange={(config) => change({ config })}
        />
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
