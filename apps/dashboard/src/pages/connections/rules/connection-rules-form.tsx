import { Button } from '@mantine/core'
import type { Connection, ConnectionRules, ConnectionWritten } from '@millrace/api-types'
import { RULE_LIMITS } from '@millrace/protocol/connection-rules'
import { useState } from 'react'
import { useChangeConnection, useConnection } from '../../../api/connections.ts'
import type { Tagged } from '../../../api/requests/reading.ts'
import { ApiPopover } from '../../../components/api-popover.tsx'
import { EditedRefusal } from '../../../components/form/edited-refusal.tsx'
import { submitting } from '../../../components/form/submitting.ts'
import { type EditedKind, useEdited } from '../../../components/form/use-edited.ts'
import { NeedsRole, useMay } from '../../../components/needs-role.tsx'
import { connectionTexts as texts } from '../../../texts.ts'
import styles from '../connections.module.css'
import { RuleCountLine } from './rule-count-line.tsx'
import { faultIn, refusedRule } from './rule-fault.ts'
import { RuleFields } from './rule-fields.tsx'
import { useRuleCount } from './use-rule-count.ts'

const CONNECTION: EditedKind<Connection, ConnectionWritten, { connection: Connection }> = {
  useOne: useConnection,
  useChange: useChangeConnection,
  oneOf: ({ connection }) => connection,
}

/** The rules alone: whether it is on belongs to the tables of connections. */
const pick = ({ rules }: Connection): { rules: ConnectionRules | null } => ({ rules: rules ?? null })

export function ConnectionRulesForm({ connection }: { readonly connection: Tagged<Connection> }) {
  const edited = useEdited(CONNECTION, connection, pick)
  const { rules } = edited.written
  const mayEdit = useMay('editor')
  const [isChecked, setIsChecked] = useState(false)
  const own = faultIn(rules)
  const fault = (isChecked ? own : undefined) ?? refusedRule(edited.error)
  const count = useRuleCount(connection.sourceId, own === undefined ? rules : undefined)
  const submit = submitting(async () => {
    setIsChecked(true)
    if (own === undefined) await edited.save()
  })
  return (
    <form className={styles.form} noValidate onSubmit={submit}>
      <p className={styles.intro}>{texts.intro}</p>
      {refusedRule(edited.error) === undefined && <EditedRefusal thing="connection" edited={edited} />}
      <RuleFields
        key={edited.loads}
        rules={rules}
        saves={edited.saves}
        count={count.data}
        fault={fault}
        disabled={!mayEdit}
        mayAdd={(rules?.list.length ?? 0) < RULE_LIMITS.rules}
        onChange={(changed) => edited.change({ rules: changed })}
      />
      <RuleCountLine count={count} isIncomplete={own !== undefined} />
      <div className={styles.actions}>
        <NeedsRole role="editor">
          <Button type="submit" loading={edited.isPending} disabled={!edited.hasInput}>
            Save
          </Button>
        </NeedsRole>
        <ApiPopover method="PATCH" path={`/v2/connections/${connection.id}`} body={edited.written} />
        <span role="status" className={styles.dim}>
          {edited.isSaved && !edited.hasInput && texts.saved}
        </span>
      </div>
    </form>
  )
}
