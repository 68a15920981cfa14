import { AUDIT_KINDS } from '../../../api/audit-log.ts'
import { oneOf, text, time } from '../../../shell/search-values.ts'

export const auditSearch = { from: time, to: time, actor: text, kind: oneOf(...AUDIT_KINDS), id: text }
