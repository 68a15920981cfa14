import type { ReactNode } from 'react'
import styles from './settings.module.css'

interface FactsProps {
  readonly rows: readonly { readonly name: string; readonly value: ReactNode }[]
}

/** Names and values, one line each. */
export function Facts({ rows }: FactsProps) {
  return (
    <dl className={styles.facts}>
      {rows.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
