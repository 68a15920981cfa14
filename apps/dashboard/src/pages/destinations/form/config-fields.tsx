import { Skeleton } from '@mantine/core'
import type { DestinationDefinition } from '@millrace/api-types'
import type { JsonObject } from '@millrace/protocol/json'
import { Suspense, useMemo, useRef, useState } from 'react'
import { configFields } from '../../../components/form/config-field.ts'
import { ConfigForm } from '../../../components/form/config-form.tsx'
import { losesSecrets } from '../../../components/form/origin-change.ts'
import { showProblem } from '../../../components/form/submitting.ts'
import { lazyPart } from '../../../components/lazy-part.ts'
import { PanelBoundary } from '../../../components/states/panel-boundary.tsx'
import { destinationTexts } from '../../../texts.ts'
import styles from '../destinations.module.css'
import { AccountConnection } from './account-connection.tsx'
import type { WhenRead } from './when-read.ts'

const CatalogMappings = lazyPart(() =>
  import('./catalog-mappings.tsx').then(({ CatalogMappings }) => ({ default: CatalogMappings })),
)

interface ConfigFieldsProps {
  readonly definition: DestinationDefinition
  readonly config: JsonObject
  /** What was read; empty of a new one. */
  readonly saved: JsonObject
  /** Count of saves. */
  readonly saves?: number
  readonly faults: Readonly<Record<string, string>>
  /** Whether `config` is what the fields show. */
  readonly isRead: boolean
  /** Of a saved one. */
  readonly destinationId?: string
  readonly disabled?: boolean
  readonly onChange: (config: JsonObject) => void
  readonly onUnread: (key: string, fault: string | undefined) => void
}

/** The variables of a type, with the warning that a new address takes the saved secrets away. */
export function ConfigFields({
  definition,
  config,
  saved,
  saves = 0,
  faults,
  isRead,
  destinationId,
  disabled,
  onChange,
  onUnread,
}: ConfigFieldsProps) {
  const fields = useMemo(() => configFields(definition), [definition])
  const [added, setAdded] = useState(0)
  const group = useRef<HTMLFieldSetElement>(null)
  const whenRead: WhenRead = (work) => (isRead ? work() : void showProblem(group.current!.form!))
  return (
    <fieldset className={styles.group} ref={group}>
      <legend>{definition.displayName}</legend>
      {definition.uiConfig.help !== undefined && <p className={styles.dim}>{definition.uiConfig.help}</p>}
      {losesSecrets(fields, saved, config) && (
        <p className={styles.notice} role="alert">
          {destinationTexts.originChanges}
        </p>
      )}
      <ConfigForm
        fields={fields}
        config={config}
        saved={saved}
        // A mapping that was added appears in the field that holds them all.
        saves={saves + added}
        faults={faults}
        disabled={disabled ?? false}
        onChange={onChange}
        onUnread={onUnread}
      />
      <AccountConnection
        definition={definition}
        config={config}
        destinationId={destinationId}
        disabled={disabled ?? false}
        whenRead={whenRead}
        onChange={onChange}
      />
      {definition.options['catalog'] === true && (
        <PanelBoundary>
          <Suspense fallback={<Skeleton height={160} />}>
            <CatalogMappings
              name={definition.name}
              config={config}
              destinationId={destinationId}
              disabled={disabled ?? false}
              whenRead={whenRead}
              onChange={(written) => {
                setAdded(added + 1)
                onChange(written)
              }}
            />
          </Suspense>
        </PanelBoundary>
      )}
    </fieldset>
  )
}
