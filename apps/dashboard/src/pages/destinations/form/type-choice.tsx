import type { DestinationDefinition } from '@millrace/api-types'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { SearchField } from '../../../components/search-field.tsx'
import { compareTexts } from '../../../components/table/table-column.ts'
import styles from '../destinations.module.css'
import { foundTypes, titleOf } from './found-types.ts'

/** All types by their category, narrowed by a search; each leads to its form. */
export function TypeChoice({ definitions }: { readonly definitions: readonly DestinationDefinition[] }) {
  const [sought, setSought] = useState<string>()
  const found = foundTypes(definitions, sought)
  const sorted = found.toSorted((a, b) => compareTexts(a.displayName, b.displayName))
  const categories = Map.groupBy(sorted, ({ category }) => category)
  return (
    <div className={styles.categories}>
      <SearchField label="Name of the service" className={styles.search} value={sought} onChange={setSought} />
      {found.length === 0 && <p className={styles.dim}>No type has this name. HTTP and Webhook reach any address.</p>}
      {[...categories]
        .toSorted(([a], [b]) => compareTexts(titleOf(a), titleOf(b)))
        .map(([category, types]) => (
          <section key={category} aria-label={titleOf(category)}>
            <h2 className={styles.category}>
              {titleOf(category)} <span className={styles.dim}>{types.length}</span>
            </h2>
            <ul className={styles.types}>
              {types.map((type) => (
                <li key={type.name}>
                  <Link to="/destinations/new" search={{ type: type.name } as never} className={styles.type}>
                    <span className={styles.typeName}>{type.displayName}</span>
                    <span className={styles.dim}>{takenTypes(type)}</span>
                  </Link>
                </li>
              ))}
            </ul>
          </section>
        ))}
    </div>
  )
}

/** `identify, track`; what an entry of the catalog takes depends on its mappings. */
function takenTypes({ config, options }: DestinationDefinition): string {
  if (options['catalog'] === true) return options['needsMapping'] === true ? 'needs a mapping' : 'ready to use'
  return (config.supportedMessageTypes['cloud'] ?? []).join(', ')
}
