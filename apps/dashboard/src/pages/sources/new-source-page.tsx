import { Button, Select, TextInput } from '@mantine/core'
import type { SourceType } from '@millrace/api-types'
import { Link, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { SOURCE_TYPES, useCreateSource } from '../../api/sources.ts'
import { ApiPopover } from '../../components/api-popover.tsx'
import { fieldRefusal, Refusal } from '../../components/form/refusal.tsx'
import { NeedsRole, useMay } from '../../components/needs-role.tsx'
import { PageHead } from '../../shell/page/page-head.tsx'
import styles from './sources.module.css'

const FIELDS = ['name', 'type']

export function NewSourcePage() {
  const [name, setName] = useState('')
  const [type, setType] = useState<SourceType>('Cordova')
  const { mutateAsync, error, isPending } = useCreateSource()
  const navigate = useNavigate()
  const mayCreate = useMay('editor')
  const refused = fieldRefusal(error, FIELDS)
  const create = async (event: FormEvent) => {
    event.preventDefault()
    // The form shows the error.
    const made = await mutateAsync({ name, type }).catch(() => undefined)
    if (made !== undefined) await navigate({ to: '/sources/$id/setup', params: { id: made.body.source.id } })
  }
  return (
    <>
      <PageHead
        title="New source"
        actions={<ApiPopover method="POST" path="/v2/sources" body={{ name: name || 'Cinema app', type }} />}
      />
      <form className={styles.form} onSubmit={(event) => void create(event)}>
        <Refusal error={error} fields={FIELDS} />
        <TextInput
          label="Name"
          description="The name of the app, site or service."
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          error={refused?.field === 'name' ? refused.text : undefined}
          required
          maxLength={200}
          disabled={!mayCreate}
          autoFocus
        />
        <Select
          label="Type"
          description="The SDK that sends the events. It determines the available destinations."
          data={[...SOURCE_TYPES]}
          value={type}
          onChange={(value) => value !== null && setType(value as SourceType)}
          error={refused?.field === 'type' ? refused.text : undefined}
          allowDeselect={false}
          disabled={!mayCreate}
          checkIconPosition="right"
        />
        <div className={styles.formActions}>
          <NeedsRole role="editor">
            <Button type="submit" loading={isPending}>
              Create source
            </Button>
          </NeedsRole>
          <Button variant="default" component={Link} to="/sources">
            Cancel
          </Button>
        </div>
      </form>
    </>
  )
}
