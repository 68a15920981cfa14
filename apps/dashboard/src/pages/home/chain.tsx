import { Link } from '@tanstack/react-router'
import { shownText } from '../../components/json/shown-text.ts'
import type { DestinationNode } from './flow.ts'
import styles from './home.module.css'

interface ChainProps {
  readonly chain: DestinationNode['chain']
  /** Id of a transformation to mark wherever it is used. */
  readonly pointed?: string | undefined
  readonly onPoint?: (id: string | undefined) => void
}

/** The transformations of one destination, in execution order. */
export function Chain({ chain, pointed, onPoint }: ChainProps) {
  return (
    <ol className={styles.chain} aria-label="Transformations">
      {chain.map(({ id, name }) => (
        <li key={id}>
          <Link
            to={`/transformations/${id}/code`}
            className={styles.chip}
            data-marked={id === pointed || undefined}
            title={shownText(name)}
            onMouseEnter={() => onPoint?.(id)}
            onMouseLeave={() => onPoint?.(undefined)}
            onFocus={() => onPoint?.(id)}
            onBlur={() => onPoint?.(undefined)}
          >
            {shownText(name)}
          </Link>
        </li>
      ))}
    </ol>
  )
}
