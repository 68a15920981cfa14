import { Button, Select } from '@mantine/core'
import type { DestinationDefinition, FieldOptions } from '@millrace/api-types'
import type { JsonObject } from '@millrace/protocol/json'
import { useState } from 'react'
import { useFieldOptions } from '../../../api/destinations.ts'
import { FieldName } from '../../../components/form/config-form.tsx'
import { Refusal } from '../../../components/form/refusal.tsx'
import { NeedsRole } from '../../../components/needs-role.tsx'
import { destinationTexts } from '../../../texts.ts'
import styles from '../destinations.module.css'
import { type ChoiceField, choiceFields, chosenText, isDirective, offeredChoices, withChoice } from './field-choices.ts'
import type { WhenRead } from './when-read.ts'

interface MappingChoicesProps {
  readonly definition: DestinationDefinition
  readonly config: JsonObject
  readonly destinationId: string | undefined
  readonly disabled: boolean
  readonly whenRead: WhenRead
  readonly onChange: (config: JsonObject) => void
}

/** The fields of configured mappings whose choices the service lists. @see contracts/destination-catalog.md §10 */
export function MappingChoices({
  definition,
  config,
  destinationId,
  disabled,
  whenRead,
  onChange,
}: MappingChoicesProps) {
  return choiceFields(definition, config).map((field) => (
    <FieldChoice
      key={`${field.at} ${field.action} ${field.name}`}
      type={definition.name}
      field={field}
      config={config}
      destinationId={destinationId}
      disabled={disabled}
      whenRead={whenRead}
      onChoose={(chosen) => onChange(withChoice(config, field, chosen))}
    />
  ))
}

interface FieldChoiceProps {
  readonly type: string
  readonly field: ChoiceField
  readonly config: JsonObject
  readonly destinationId: string | undefined
  readonly disabled: boolean
  readonly whenRead: WhenRead
  readonly onChoose: (chosen: string) => void
}

function FieldChoice({ type, field, config, destinationId, disabled, whenRead, onChoose }: FieldChoiceProps) {
  const { at, action, name, label, isKeys, value, values } = field
  const { mutate, error, isPending } = useFieldOptions()
  const [listed, setListed] = useState<FieldOptions>()
  const load = (page?: string) =>
    mutate(
      {
        type,
        config,
        ...(destinationId === undefined ? {} : { destinationId }),
        action,
        field: name,
        values,
        ...(page === undefined ? {} : { page }),
      },
      {
        onSuccess: ({ body }) => {
          const earlier = page === undefined ? [] : (listed?.choices ?? [])
          setListed({ ...body, choices: [...earlier, ...body.choices] })
        },
      },
    )
  const choices = offeredChoices(listed?.choices ?? [], isKeys ? undefined : value)
  const nextPage = listed?.nextPage ?? undefined
  return (
    <div className={styles.listed}>
      <Select
        label={label}
        description={<FieldName name={name} help={destinationTexts.mappingNumber(at + 1)} />}
        placeholder={placeholderOf(field)}
        data={choices}
        value={isKeys ? null : chosenText(value)}
        onChange={(chosen) => chosen !== null && whenRead(() => onChoose(chosen))}
        error={listed?.error == null ? undefined : destinationTexts.noChoices(listed.error)}
        nothingFoundMessage={listed === undefined ? destinationTexts.choicesNotLoaded : destinationTexts.noSuchChoice}
        searchable
        allowDeselect={false}
        disabled={disabled}
      />
      <NeedsRole role="editor">
        <Button
          variant="default"
          loading={isPending}
          aria-label={`Load ${nextPage === undefined ? '' : 'more '}choices for ${label}`}
          onClick={() => whenRead(() => load(nextPage))}
        >
          {nextPage === undefined ? 'Load choices' : 'Load more'}
        </Button>
      </NeedsRole>
      <span role="status" className={styles.dim}>
        {listed != null && listed.error == null && destinationTexts.choicesLoaded(listed.choices.length)}
      </span>
      <Refusal error={error} />
    </div>
  )
}

function placeholderOf({ isKeys, value }: ChoiceField): string {
  if (isKeys) return 'Add a member'
  return isDirective(value) ? 'Set by a directive' : 'Not set'
}
