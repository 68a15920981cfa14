import type { DestinationDefinition } from '@millrace/api-types'
import { Link } from '@tanstack/react-router'
import { compareTexts } from '../../../components/table/table-column.ts'
import styles from '../destinations.module.css'

/** All types by their category; each leads to its form. */
export function TypeChoice({ definitions }: { readonly definitions: readonly DestinationDefinition[] }) {
  const sorted = definitions.toSorted((a, b) => compareTexts(a.displayName, b.displayName))
  const categories = Map.groupBy(sorted, ({ category }) => category)
  return (
    <div className={styles.categories}>
      {[...categories]
        .toSorted(([a], [b]) => compareTexts(a, b))
        .map(([category, types]) => (
          <section key={category} aria-label={titleOf(category)}>
            <h2 className={styles.category}>{titleOf(category)}</h2>
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

/** `identify, track`. */
function takenTypes({ config }: DestinationDefinition): string {
  return (config.supportedMessageTypes['cloud'] ?? []).join(', ')
}

function titleOf(category: string): string {
  return category.charAt(0).toUpperCase() + category.slice(1)
}
