import { Button, Select } from '@mantine/core'
import type { ConnectionRules, RuleCount } from '@millrace/api-types'
import { useDraft } from '../../../components/form/use-draft.ts'
import { NeedsRole } from '../../../components/needs-role.tsx'
import { Icon } from '../../../shell/icon.tsx'
import { connectionTexts as texts } from '../../../texts.ts'
import styles from '../connections.module.css'
import { RuleCard } from './rule-card.tsx'
import { draftOf, newKey, type RuleDraft, type RulesDraft, rulesOf } from './rule-draft.ts'
import { faultBelow, type RuleFault } from './rule-fault.ts'

interface RuleFieldsProps {
  readonly rules: ConnectionRules | null
  /** Count of saves, after which the rules are as the server has them. */
  readonly saves: number
  /** Of as many rules as it was made for. */
  readonly count: RuleCount | undefined
  readonly fault: RuleFault | undefined
  readonly disabled: boolean
  readonly mayAdd: boolean
  readonly onChange: (rules: ConnectionRules | null) => void
}

export function RuleFields({ rules, saves, count, fault, disabled, mayAdd, onChange }: RuleFieldsProps) {
  const [draft, keep] = useDraft(rules, saves, draftOf)
  const change = (changes: Partial<RulesDraft>) => {
    const changed = { ...draft, ...changes }
    const written = rulesOf(changed)
    keep(changed, written)
    onChange(written)
  }
  const put = (at: number, rule: RuleDraft) => change({ list: draft.list.with(at, rule) })
  const counts = count?.matches.length === draft.list.length ? count : undefined
  return (
    <>
      {fault?.path === '' || fault?.path === '/list' ? (
        <p className={styles.fault} role="alert">
          {texts.ruleFault(fault.text)}
        </p>
      ) : null}
      {draft.list.length > 0 && (
        <ol className={styles.rules}>
          {draft.list.map((rule, at) => (
            <RuleCard
              key={rule.key}
              rule={rule}
              number={at + 1}
              isLast={at === draft.list.length - 1}
              matched={counts?.matches[at]}
              fault={faultBelow(fault, `/list/${at}`)}
              disabled={disabled}
              onChange={(changed) => put(at, changed)}
              onMove={(by) => change({ list: draft.list.toSpliced(at, 1).toSpliced(at + by, 0, rule) })}
              onRemove={() => change({ list: draft.list.toSpliced(at, 1) })}
            />
          ))}
        </ol>
      )}
      <NeedsRole role="editor">
        <Button
          className={styles.add ?? ''}
          variant="default"
          leftSection={<Icon name="plus" size={14} />}
          disabled={disabled || !mayAdd}
          onClick={() => change({ list: [...draft.list, newRule()] })}
        >
          Add rule
        </Button>
      </NeedsRole>
      <Select
        className={styles.otherwise ?? ''}
        label={texts.otherwise}
        description={counts && draft.list.length > 0 ? texts.matched(counts.otherwise) : undefined}
        data={[
          { value: 'allow', label: 'Send' },
          { value: 'deny', label: 'Do not send' },
        ]}
        value={draft.otherwise}
        onChange={(value) => value !== null && change({ otherwise: value as RulesDraft['otherwise'] })}
        allowDeselect={false}
        disabled={disabled}
      />
    </>
  )
}

function newRule(): RuleDraft {
  return { key: newKey(), action: 'deny', types: [], match: 'exact', names: [], conditions: [] }
}
