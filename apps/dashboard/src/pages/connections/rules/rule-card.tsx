import { ActionIcon, Button, MultiSelect, Select, TagsInput } from '@mantine/core'
import { RULE_LIMITS } from '@millrace/protocol/connection-rules'
import { EVENT_TYPES } from '@millrace/protocol/event'
import { Icon } from '../../../shell/icon.tsx'
import { connectionTexts as texts } from '../../../texts.ts'
import styles from '../connections.module.css'
import { ConditionRow } from './condition-row.tsx'
import { newKey, type RuleDraft } from './rule-draft.ts'
import { faultBelow, type RuleFault } from './rule-fault.ts'

interface RuleCardProps {
  readonly rule: RuleDraft
  readonly number: number
  readonly isLast: boolean
  /** Events of yesterday that the rule decides; undefined while they are not known. */
  readonly matched: number | undefined
  readonly fault: RuleFault | undefined
  readonly disabled: boolean
  readonly onChange: (rule: RuleDraft) => void
  readonly onMove: (by: -1 | 1) => void
  readonly onRemove: () => void
}

/** One rule. Its parts that are filled in must all hold. */
export function RuleCard(props: RuleCardProps) {
  const { rule, fault, disabled, onChange } = props
  const { conditions } = rule
  const change = (changes: Partial<RuleDraft>) => onChange({ ...rule, ...changes })
  return (
    <li className={styles.rule}>
      <RuleHead {...props} />
      {fault?.path === '' && (
        <p className={styles.fault} role="alert">
          {texts.ruleFault(fault.text)}
        </p>
      )}
      <RuleParts {...props} />
      {conditions.map((condition, at) => (
        <ConditionRow
          key={condition.key}
          condition={condition}
          number={at + 1}
          fault={faultBelow(fault, `/conditions/${at}`)}
          disabled={disabled}
          onChange={(changed) => change({ conditions: conditions.with(at, changed) })}
          onRemove={() => change({ conditions: conditions.toSpliced(at, 1) })}
        />
      ))}
      <Button
        className={styles.add ?? ''}
        variant="subtle"
        leftSection={<Icon name="plus" size={14} />}
        disabled={disabled || conditions.length >= RULE_LIMITS.conditions}
        onClick={() =>
          change({ conditions: [...conditions, { key: newKey(), path: '', operator: 'equals', values: [] }] })
        }
      >
        Add condition
      </Button>
    </li>
  )
}

function RuleHead({ number, isLast, matched, disabled, onMove, onRemove }: RuleCardProps) {
  const actions = [
    { label: `Move rule ${number} up`, icon: 'up', isOff: number === 1, act: () => onMove(-1) },
    { label: `Move rule ${number} down`, icon: 'down', isOff: isLast, act: () => onMove(1) },
    { label: `Remove rule ${number}`, icon: 'remove', isOff: false, act: onRemove },
  ] as const
  return (
    <div className={styles.ruleHead}>
      <h2 className={styles.ruleTitle}>Rule {number}</h2>
      {matched !== undefined && <span className={styles.dim}>{texts.matched(matched)}</span>}
      <span className={styles.ruleActions}>
        {actions.map(({ label, icon, isOff, act }) => (
          <ActionIcon
            key={icon}
            variant="subtle"
            color="gray"
            aria-label={label}
            disabled={disabled || isOff}
            onClick={act}
          >
            <Icon name={icon} />
          </ActionIcon>
        ))}
      </span>
    </div>
  )
}

function RuleParts({ rule, fault, disabled, onChange }: RuleCardProps) {
  const change = (changes: Partial<RuleDraft>) => onChange({ ...rule, ...changes })
  return (
    <div className={styles.ruleParts}>
      <Select
        label="Action"
        data={[
          { value: 'allow', label: 'Send' },
          { value: 'deny', label: 'Do not send' },
        ]}
        value={rule.action}
        onChange={(value) => value !== null && change({ action: value as RuleDraft['action'] })}
        allowDeselect={false}
        disabled={disabled}
      />
      <MultiSelect
        size="xs"
        label="Types"
        placeholder={rule.types.length === 0 ? 'All types' : ''}
        data={[...EVENT_TYPES]}
        value={[...rule.types]}
        onChange={(types) => change({ types })}
        error={faultBelow(fault, '/types')?.text}
        disabled={disabled}
      />
      <Select
        label="Event name"
        data={[
          { value: 'exact', label: 'Is' },
          { value: 'prefix', label: 'Begins with' },
          { value: 'pattern', label: 'Matches' },
        ]}
        value={rule.match}
        onChange={(value) => value !== null && change({ match: value as RuleDraft['match'] })}
        allowDeselect={false}
        disabled={disabled}
      />
      <TagsInput
        label="Names"
        description={rule.match === 'pattern' ? texts.pattern : undefined}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        placeholder={rule.names.length === 0 ? 'All names' : ''}
        value={[...rule.names]}
        onChange={(names) => change({ names })}
        maxTags={RULE_LIMITS.names}
        error={faultBelow(fault, '/events')?.text}
        acceptValueOnBlur
        disabled={disabled}
      />
    </div>
  )
}
