import { Button } from '@mantine/core'
import type { DestinationDefinition } from '@millrace/api-types'
import type { JsonObject } from '@millrace/protocol/json'
import { useDestinationDefinition } from '../../../api/destination-definitions.ts'
import { StateMark } from '../../../components/state-mark.tsx'
import { Shown } from '../../../components/states/shown.tsx'
import { destinationTexts } from '../../../texts.ts'
import styles from '../destinations.module.css'
import { MappingChoices } from './mapping-choices.tsx'
import {
  defaultMappings,
  mappingsIn,
  type PreparedMapping,
  preparedMappings,
  withMapping,
} from './prepared-mappings.ts'
import type { WhenRead } from './when-read.ts'

interface CatalogMappingsProps {
  readonly name: string
  readonly config: JsonObject
  /** Of a saved one, so that masks stand for its secrets. */
  readonly destinationId: string | undefined
  readonly disabled: boolean
  readonly whenRead: WhenRead
  readonly onChange: (config: JsonObject) => void
}

/** What the mappings of a catalog type may be: each can be added to those above, and changed there. */
export function CatalogMappings({ name, config, destinationId, disabled, whenRead, onChange }: CatalogMappingsProps) {
  const reading = useDestinationDefinition(name)
  return (
    <Shown of={reading} thing="Destination definition" id={name}>
      {(definition) => (
        <section className={styles.mappings} aria-label="Prepared mappings">
          {definition.options['verified'] === false && (
            <p className={styles.notVerified}>
              <StateMark kind="behind">{destinationTexts.notVerified}</StateMark> {destinationTexts.notVerifiedMeaning}
            </p>
          )}
          <MappingChoices
            definition={definition}
            config={config}
            destinationId={destinationId}
            disabled={disabled}
            whenRead={whenRead}
            onChange={onChange}
          />
          <p className={styles.dim}>{sentence(definition, config)}</p>
          <ul className={styles.prepared}>
            {preparedMappings(definition).map((prepared) => (
              <PreparedRow
                key={JSON.stringify(prepared.written)}
                prepared={prepared}
                disabled={disabled}
                onAdd={() => whenRead(() => onChange(withMapping(config, prepared.written)))}
              />
            ))}
          </ul>
          <p className={styles.dim}>{String(definition.options['provenance'] ?? '')}</p>
        </section>
      )}
    </Shown>
  )
}

interface PreparedRowProps {
  readonly prepared: PreparedMapping
  readonly disabled: boolean
  readonly onAdd: () => void
}

function PreparedRow({ prepared: { name, trigger }, disabled, onAdd }: PreparedRowProps) {
  return (
    <li className={styles.preparedRow}>
      <span>
        <span className={styles.typeName}>{name}</span> <code>{trigger ?? 'no default trigger'}</code>
      </span>
      <Button size="xs" variant="default" disabled={disabled} aria-label={`Add mapping ${name}`} onClick={onAdd}>
        Add
      </Button>
    </li>
  )
}

function sentence(definition: DestinationDefinition, config: JsonObject): string {
  const { length } = mappingsIn(config)
  if (length > 0) return `${length} of at most 50 mappings. An event is sent by each mapping whose trigger matches.`
  const names = defaultMappings(definition).map(({ name }) => name)
  if (definition.options['needsMapping'] === true) return 'Nothing is sent before you add a mapping.'
  return `Without mappings these apply: ${names.join(', ')}. The first mapping that you add replaces them.`
}
