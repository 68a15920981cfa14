import { Select, TagsInput } from '@mantine/core'
import type { Consent } from '@millrace/api-types'
import { FieldName } from '../../../components/form/config-form.tsx'
import { consentTexts } from '../../../texts.ts'
import styles from '../destinations.module.css'

const MAX_CATEGORIES = 20

interface ConsentFieldsProps {
  readonly consent: Consent | null
  readonly error: string | undefined
  readonly disabled: boolean
  readonly onChange: (consent: Consent | null) => void
}

/** The consent that an event must have to be sent. */
export function ConsentFields({ consent, error, disabled, onChange }: ConsentFieldsProps) {
  const { categories = [], require = 'all' } = consent ?? {}
  return (
    <fieldset className={styles.group}>
      <legend>Consent</legend>
      <TagsInput
        label="Consent categories"
        description={<FieldName name="categories" help={consentTexts.categories} />}
        value={[...categories]}
        onChange={(changed) => onChange(changed.length === 0 ? null : { categories: changed, require })}
        error={error}
        maxTags={MAX_CATEGORIES}
        acceptValueOnBlur
        disabled={disabled}
      />
      {consent !== null && (
        <Select
          label="The user must grant"
          description={<FieldName name="require" />}
          data={[
            { value: 'all', label: 'All of them' },
            { value: 'any', label: 'One of them' },
          ]}
          value={require}
          onChange={(value) => value !== null && onChange({ categories, require: value as Consent['require'] })}
          allowDeselect={false}
          disabled={disabled}
        />
      )}
    </fieldset>
  )
}
