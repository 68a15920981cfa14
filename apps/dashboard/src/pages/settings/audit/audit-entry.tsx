import type { AuditEntry } from '@millrace/api-types'
import type { JsonValue } from '@millrace/protocol/json'
import { shownText } from '../../../components/json/shown-text.ts'
import { ShownId } from '../../../components/shown-id.tsx'
import { Time } from '../../../components/time/time.tsx'
import { Facts } from '../facts.tsx'
import styles from '../settings.module.css'

/** One entry, with its changes; secrets show only whether they changed. */
export function AuditEntryDetail({ entry }: { readonly entry: AuditEntry }) {
  const { at, actor, tokenName, address, resourceId, outcome, requestId, diff } = entry
  return (
    <div className={styles.entry}>
      <Facts
        rows={[
          { name: 'Time', value: <Time at={at} precision="millisecond" /> },
          { name: 'Actor', value: shownText(actor) },
          { name: 'Token', value: shownText(tokenName ?? '–') },
          { name: 'Address', value: address ?? '–' },
          { name: 'Outcome', value: outcome },
          { name: 'Id', value: resourceId === null ? '–' : <ShownId id={resourceId} /> },
          { name: 'Request', value: requestId === null ? '–' : <ShownId id={requestId} what="request id" /> },
        ]}
      />
      {diff.length > 0 && (
        <table className={styles.diff}>
          <thead>
            <tr>
              <th scope="col">What</th>
              <th scope="col">Before</th>
              <th scope="col">After</th>
            </tr>
          </thead>
          <tbody>
            {diff.map(({ path, from, to, secretChanged }) => (
              <tr key={path}>
                <td>{shownText(path)}</td>
                <td>{valueText(from)}</td>
                <td>{secretChanged ? 'another secret' : valueText(to)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  )
}

const LONGEST = 2000

function valueText(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return '–'
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return shownText(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text)
}
