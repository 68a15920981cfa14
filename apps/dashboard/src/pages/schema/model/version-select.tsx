import { Select } from '@mantine/core'
import { useSearchValues } from '../../../shell/search-values.ts'
import styles from '../schema.module.css'
import { modelSearch } from '../schema-search.ts'
import type { ModelTabProps } from './model-tab-props.ts'

interface VersionSelectProps extends Pick<ModelTabProps, 'versions'> {
  /** Undefined: all versions. */
  readonly value: string | undefined
  readonly isClearable: boolean
}

/** Selects a version; the link holds the choice. */
export function VersionSelect({ versions, value, isClearable }: VersionSelectProps) {
  const [, set] = useSearchValues(modelSearch)
  const data = versions.map(({ VersionID }, at) => ({ value: VersionID, label: `Version ${at + 1}` })).reverse()
  return (
    <div className={styles.filters}>
      <Select
        className={styles.choice}
        aria-label="Version"
        placeholder="All versions"
        data={data}
        value={value ?? null}
        onChange={(version) => set({ version: version ?? undefined })}
        clearable={isClearable}
        allowDeselect={isClearable}
        searchable
      />
    </div>
  )
}

/** The version in the link, if it exists. */
export function useChosenVersion(versions: ModelTabProps['versions']): string | undefined {
  const [{ version }] = useSearchValues(modelSearch)
  return versions.find(({ VersionID }) => VersionID === version)?.VersionID
}
