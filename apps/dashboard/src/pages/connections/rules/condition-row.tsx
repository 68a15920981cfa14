import { ActionIcon, Select, TagsInput, TextInput } from '@mantine/core'
import { OPERATORS, RULE_LIMITS, type RuleOperator } from '@millrace/protocol/connection-rules'
import { OPERATOR_TEXTS } from '@millrace/protocol/rule-text'
import { Icon } from '../../../shell/icon.tsx'
import styles from '../connections.module.css'
import { type ConditionDraft, valueHint, valueKind } from './rule-draft.ts'
import { faultBelow, type RuleFault } from './rule-fault.ts'

interface ConditionRowProps {
  readonly condition: ConditionDraft
  readonly number: number
  readonly fault: RuleFault | undefined
  readonly disabled: boolean
  readonly onChange: (condition: ConditionDraft) => void
  readonly onRemove: () => void
}

const CHOICES = OPERATORS.map((value) => ({ value, label: OPERATOR_TEXTS[value] }))

/** `properties.value ≥ 100` */
export function ConditionRow({ condition, number, fault, disabled, onChange, onRemove }: ConditionRowProps) {
  const { path, operator, values } = condition
  const change = (changes: Partial<ConditionDraft>) => onChange({ ...condition, ...changes })
  return (
    <div className={styles.condition}>
      <TextInput
        aria-label={`Member of condition ${number}`}
        placeholder="properties.value"
        value={path}
        onChange={({ currentTarget }) => change({ path: currentTarget.value })}
        error={faultBelow(fault, '/path')?.text}
        spellCheck={false}
        maxLength={RULE_LIMITS.pathChars}
        disabled={disabled}
      />
      <Select
        aria-label={`Operator of condition ${number}`}
        data={CHOICES}
        value={operator}
        onChange={(value) => value !== null && change(withOperator(condition, value as RuleOperator))}
        allowDeselect={false}
        disabled={disabled}
      />
      {valueKind(operator) === 'one' && (
        <TextInput
          aria-label={`Value of condition ${number}`}
          placeholder={valueHint(operator)}
          value={values[0] ?? ''}
          onChange={({ currentTarget }) => change({ values: [currentTarget.value] })}
          error={faultBelow(fault, '/value')?.text}
          spellCheck={false}
          disabled={disabled}
        />
      )}
      {valueKind(operator) === 'many' && (
        <TagsInput
          aria-label={`Values of condition ${number}`}
          placeholder={values.length === 0 ? 'Values' : ''}
          value={[...values]}
          onChange={(changed) => change({ values: changed })}
          error={faultBelow(fault, '/value')?.text}
          maxTags={RULE_LIMITS.values}
          acceptValueOnBlur
          disabled={disabled}
        />
      )}
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={`Remove condition ${number}`}
        disabled={disabled}
        onClick={onRemove}
      >
        <Icon name="remove" />
      </ActionIcon>
    </div>
  )
}

/** Of several values the first stays where only one is taken. */
function withOperator({ values }: ConditionDraft, operator: RuleOperator): Partial<ConditionDraft> {
  const kept = { none: 0, one: 1, many: values.length }[valueKind(operator)]
  return { operator, values: values.filter((value) => value !== '').slice(0, kept) }
}
