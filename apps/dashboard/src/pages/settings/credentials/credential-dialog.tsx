import { Button, PasswordInput, TextInput } from '@mantine/core'
import type { Credential } from '@millrace/api-types'
import { type FormEvent, useState } from 'react'
import { useSaveCredential } from '../../../api/credentials.ts'
import { Dialog } from '../../../components/dialog.tsx'
import { fieldRefusal, Refusal } from '../../../components/form/refusal.tsx'
import styles from '../settings.module.css'

const FIELDS = ['key', 'value']

interface CredentialDialogProps {
  /** Undefined creates a new one. */
  readonly credential: Credential | undefined
  readonly onClose: () => void
}

export function CredentialDialog({ credential, onClose }: CredentialDialogProps) {
  const [key, setKey] = useState(credential?.key ?? '')
  const [value, setValue] = useState('')
  const { mutateAsync, error, isPending } = useSaveCredential()
  const refused = fieldRefusal(error, FIELDS)
  const save = async (event: FormEvent) => {
    event.preventDefault()
    const saved = await mutateAsync({ key, value }).catch(() => undefined)
    if (saved !== undefined) onClose()
  }
  const title = credential === undefined ? 'New credential' : `Replace ${credential.key}`
  return (
    <Dialog title={title} isWriting={isPending} onClose={onClose}>
      <form className={styles.form} onSubmit={(event) => void save(event)}>
        <Refusal error={error} fields={FIELDS} />
        {credential === undefined && (
          <TextInput
            label="Key"
            description="Letters, digits, _ . and -, at most 64."
            pattern="[A-Za-z0-9_.\-]{1,64}"
            value={key}
            onChange={({ currentTarget }) => setKey(currentTarget.value)}
            error={refused?.field === 'key' ? refused.text : undefined}
            spellCheck={false}
            required
            data-autofocus
          />
        )}
        <PasswordInput
          label="Value"
          description="It is never shown again."
          value={value}
          onChange={({ currentTarget }) => setValue(currentTarget.value)}
          error={refused?.field === 'value' ? refused.text : undefined}
          autoComplete="off"
          required
          data-autofocus={credential !== undefined || undefined}
        />
        <Button type="submit" loading={isPending}>
          Save
        </Button>
      </form>
    </Dialog>
  )
}
