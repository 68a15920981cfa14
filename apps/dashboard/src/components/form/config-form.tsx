import { Select, Switch, TagsInput, Textarea, TextInput } from '@mantine/core'
import type { JsonObject, JsonValue } from '@millrace/protocol/json'
import { MASK } from '../../api/destinations.ts'
import type { ConfigField } from './config-field.ts'
import styles from './config-form.module.css'
import { JsonField } from './json-field.tsx'
import { NumberField } from './number-field.tsx'
import { PairsField } from './pairs-field.tsx'
import { SecretField } from './secret-field.tsx'

interface ConfigFormProps {
  readonly fields: readonly ConfigField[]
  /** The values; an omitted variable is not saved. */
  readonly config: JsonObject
  /** The saved values; secrets are masked. */
  readonly saved: JsonObject
  /** Count of saves and other changes of `config` from outside the fields. */
  readonly saves: number
  /** Error texts by key of the field. */
  readonly faults: Readonly<Record<string, string>>
  readonly disabled?: boolean
  readonly onChange: (config: JsonObject) => void
  /** Receives the error of a field whose text is not JSON, then undefined. */
  readonly onUnread: (key: string, fault: string | undefined) => void
}

/** The form for a type's schema, with the names of the variables under the labels. */
export function ConfigForm({
  fields,
  config,
  saved,
  saves,
  faults,
  disabled = false,
  onChange,
  onUnread,
}: ConfigFormProps) {
  return (
    <div className={styles.form}>
      {fields.map((field) => (
        <ConfigControl
          key={field.key}
          field={field}
          value={config[field.key]}
          saved={saved[field.key]}
          saves={saves}
          error={faults[field.key]}
          disabled={disabled}
          onChange={(value) => onChange(withMember(config, field.key, value))}
          onUnread={(fault) => onUnread(field.key, fault)}
        />
      ))}
    </div>
  )
}

interface ConfigControlProps {
  readonly field: ConfigField
  readonly value: JsonValue | undefined
  readonly saved: JsonValue | undefined
  readonly saves: number
  readonly error: string | undefined
  readonly disabled: boolean
  /** Undefined omits the variable. */
  readonly onChange: (value: JsonValue | undefined) => void
  readonly onUnread: (fault: string | undefined) => void
}

function ConfigControl({ field, value, saved, saves, error, disabled, onChange, onUnread }: ConfigControlProps) {
  const { key, label, help, control, isRequired, options, fallback } = field
  const common = {
    label,
    description: <FieldName name={key} help={help} />,
    inputWrapperOrder: ['label', 'description', 'input', 'error'] as ('label' | 'description' | 'input' | 'error')[],
    error,
    disabled,
    withAsterisk: isRequired,
  }
  const text = typeof value === 'string' ? value : ''
  const ofText = (written: string) => onChange(written === '' ? undefined : written)
  switch (control) {
    case 'secret':
      return (
        <SecretField
          label={label}
          description={common.description}
          value={text}
          isSaved={saved === MASK}
          isRequired={isRequired}
          error={error}
          disabled={disabled}
          onChange={ofText}
        />
      )
    case 'select':
      return (
        <Select
          {...common}
          data={[...options]}
          value={options.find((option) => option === text || option === text.toUpperCase()) ?? null}
          placeholder={typeof fallback === 'string' ? fallback : ''}
          clearable={!isRequired}
          onChange={(chosen) => onChange(chosen ?? undefined)}
        />
      )
    case 'switch':
      return (
        <Switch
          label={label}
          description={common.description}
          error={error}
          disabled={disabled}
          checked={value === true || (value === undefined && fallback === true)}
          onChange={({ currentTarget }) => onChange(currentTarget.checked)}
        />
      )
    case 'number':
      return (
        <NumberField
          {...common}
          isOptional
          value={typeof value === 'number' ? value : undefined}
          placeholder={fallback === undefined ? '' : String(fallback)}
          onChange={onChange}
        />
      )
    case 'tags':
      return (
        <TagsInput
          {...common}
          value={Array.isArray(value) ? value.map(String) : []}
          onChange={(tags) => onChange(tags.length === 0 ? undefined : tags)}
        />
      )
    case 'pairs':
    case 'renames':
      return <PairsField {...common} hasSecrets={control === 'pairs'} value={value} saves={saves} onChange={onChange} />
    case 'json':
      return (
        <JsonField
          {...common}
          {...(field.schema['type'] === 'array' ? { shape: 'list' } : {})}
          value={value}
          saves={saves}
          onChange={onChange}
          onFault={onUnread}
        />
      )
    case 'lines':
      return (
        <Textarea
          {...common}
          value={text}
          minRows={3}
          maxRows={16}
          autosize
          spellCheck={false}
          styles={{ input: { fontFamily: 'var(--mono)' } }}
          onChange={({ currentTarget }) => ofText(currentTarget.value)}
        />
      )
    case 'text':
      return (
        <TextInput
          {...common}
          value={text}
          placeholder={typeof fallback === 'string' ? fallback : ''}
          spellCheck={false}
          onChange={({ currentTarget }) => ofText(currentTarget.value)}
        />
      )
  }
}

/** The variable's name in the Test API's `destinationConfig`, and its purpose. */
export function FieldName({ name, help }: { readonly name: string; readonly help?: string | undefined }) {
  return (
    <>
      <code className={styles.name}>{name}</code>
      {help !== undefined && <span> {help}</span>}
    </>
  )
}

function withMember(config: JsonObject, key: string, value: JsonValue | undefined): JsonObject {
  const { [key]: _, ...rest } = config
  return value === undefined ? rest : { ...rest, [key]: value }
}
