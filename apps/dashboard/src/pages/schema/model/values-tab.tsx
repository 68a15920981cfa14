import { grouped } from '@millrace/wording'
import { ShareBar } from '../../../components/figures/share-bar.tsx'
import { shownText } from '../../../components/json/shown-text.ts'
import { Empty } from '../../../components/states/empty.tsx'
import { Shown } from '../../../components/states/shown.tsx'
import styles from '../schema.module.css'
import type { ModelTabProps } from './model-tab-props.ts'
import { useMetadata } from './use-metadata.ts'
import { useChosenVersion, VersionSelect } from './version-select.tsx'

/** Number of values shown for each key; further ones are rare. */
const MAX_VALUES = 20

/** Frequent values, by key. */
export function ValuesTab({ model, versions }: ModelTabProps) {
  const versionId = useChosenVersion(versions)
  return (
    <>
      <VersionSelect versions={versions} value={versionId} isClearable />
      <Shown of={useMetadata(model.EventID, versionId)}>
        {({ FrequentValues, TotalCount }) => {
          const keys = Object.entries(FrequentValues).toSorted(([a], [b]) => (a < b ? -1 : 1))
          if (keys.length === 0) return <Empty text="No frequent values." />
          return (
            <div className={styles.values}>
              {keys.map(([key, values]) => (
                <section key={key} aria-label={key}>
                  <h2 className={styles.valueKey}>
                    <code>{shownText(key)}</code>
                  </h2>
                  <ul className={styles.list}>
                    {values.slice(0, MAX_VALUES).map(({ Value, Frequency }) => (
                      <li key={Value} className={styles.value}>
                        <span title={Value}>{shownText(Value)}</span>
                        <ShareBar share={Frequency / TotalCount} text={grouped(Frequency)} />
                      </li>
                    ))}
                  </ul>
                </section>
              ))}
            </div>
          )
        }}
      </Shown>
    </>
  )
}
