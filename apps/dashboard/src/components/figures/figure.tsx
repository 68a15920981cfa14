import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import styles from './figures.module.css'

interface FigureProps {
  readonly label: string
  readonly value: string
  /** Text under the value: its comparison or period. */
  readonly meta?: ReactNode
  readonly tone?: 'plain' | 'warn' | 'bad'
  /** A page with details. */
  readonly to?: string
  readonly search?: Readonly<Record<string, string>>
}

/** One large number. */
export function Figure({ label, value, meta, tone = 'plain', to, search }: FigureProps) {
  const content = (
    <>
      <span className={styles.label}>{label}</span>
      <span className={styles.value} data-tone={tone}>
        {value}
      </span>
      {meta !== undefined && <span className={styles.meta}>{meta}</span>}
    </>
  )
  if (to === undefined) return <div className={styles.figure}>{content}</div>
  return (
    <Link className={styles.figure} to={to} search={(search ?? {}) as never}>
      {content}
    </Link>
  )
}

/** Several figures in a row. */
export function Figures({ children }: { readonly children: ReactNode }) {
  return <div className={styles.figures}>{children}</div>
}
