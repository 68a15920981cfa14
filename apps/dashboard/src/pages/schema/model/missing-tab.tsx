import { counted } from '@millrace/wording'
import { useMissingKeys } from '../../../api/schemas.ts'
import { shownText } from '../../../components/json/shown-text.ts'
import { Empty } from '../../../components/states/empty.tsx'
import { Shown } from '../../../components/states/shown.tsx'
import styles from '../schema.module.css'
import type { ModelTabProps } from './model-tab-props.ts'
import { useChosenVersion, VersionSelect } from './version-select.tsx'

/** Keys of the model that a version lacks; by default of the newest version. */
export function MissingTab({ versions }: ModelTabProps) {
  const versionId = useChosenVersion(versions) ?? versions.at(-1)?.VersionID
  if (versionId === undefined) return <Empty text="No versions." />
  return (
    <>
      <VersionSelect versions={versions} value={versionId} isClearable={false} />
      <Missing versionId={versionId} />
    </>
  )
}

function Missing({ versionId }: { readonly versionId: string }) {
  return (
    <Shown of={useMissingKeys(versionId)}>
      {(keys) =>
        keys.length === 0 ? (
          <Empty text="This version has every key of the model." />
        ) : (
          <>
            <p className={styles.listHead}>{counted(keys.length, 'key')} of the model that this version lacks</p>
            <ul className={styles.list} aria-label="Missing keys">
              {keys.map((key) => (
                <li key={key}>
                  <code>{shownText(key)}</code>
                </li>
              ))}
            </ul>
          </>
        )
      }
    </Shown>
  )
}
