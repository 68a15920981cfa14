import { Button, PasswordInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { MASK } from '../../api/destinations.ts'
import { destinationTexts } from '../../texts.ts'
import styles from './secret-field.module.css'

interface SecretFieldProps {
  readonly label: ReactNode
  readonly description?: ReactNode
  /** `********` stands for the saved value, which is never shown. */
  readonly value: string
  /** Whether a value is saved. */
  readonly isSaved: boolean
  readonly isRequired?: boolean
  readonly error?: string | undefined
  readonly disabled?: boolean
  readonly onChange: (value: string) => void
}

/** A secret: unchanged, it keeps the saved value. */
export function SecretField({
  label,
  description,
  value,
  isSaved,
  isRequired,
  error,
  disabled,
  onChange,
}: SecretFieldProps) {
  const isUntouched = value === MASK
  return (
    <div className={styles.secret}>
      <PasswordInput
        className={styles.input}
        label={label}
        description={description}
        placeholder={isUntouched ? destinationTexts.secretSaved : ''}
        value={isUntouched ? '' : value}
        // An emptied field means the saved value; a button removes it.
        onChange={({ currentTarget }) => onChange(currentTarget.value === '' && isSaved ? MASK : currentTarget.value)}
        autoComplete="off"
        spellCheck={false}
        withAsterisk={isRequired ?? false}
        error={error}
        aria-invalid={error !== undefined}
        disabled={disabled ?? false}
      />
      {isSaved && isUntouched && isRequired !== true && (
        <Button variant="default" disabled={disabled ?? false} onClick={() => onChange('')}>
          Remove
        </Button>
      )}
    </div>
  )
}
