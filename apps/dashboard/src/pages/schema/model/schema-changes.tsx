import { shownText } from '../../../components/json/shown-text.ts'
import styles from '../schema.module.css'
import { schemaChanges } from './schema-change.ts'
import type { Compared } from './version-bars.ts'

/** The changes of one version against another. */
export function SchemaChanges({ version, against }: Compared) {
  const changes = schemaChanges(against.version.Schema, version.version.Schema)
  return (
    <section aria-label="Differences">
      <h2 className={styles.changeTitle}>
        Version {version.number} against version {against.number}
      </h2>
      <ul className={styles.changes}>
        {changes.map(({ path, kind, before, after }) => (
          <li key={path} className={styles.change} data-kind={kind}>
            <span className={styles.kind}>{kind}</span>
            <span className={styles.changed}>
              <code>{shownText(path)}</code>
              <span className={styles.dim}>{[before, after].filter((type) => type !== null).join(' → ')}</span>
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
