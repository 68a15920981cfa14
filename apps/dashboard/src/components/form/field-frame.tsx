import type { ReactNode } from 'react'
import styles from './config-form.module.css'

interface FieldFrameProps {
  readonly label: string
  readonly description: ReactNode
  readonly error: string | undefined
  readonly withAsterisk: boolean
  readonly children: ReactNode
}

/** A field of several controls, with label, description and error like a single control. */
export function FieldFrame({ label, description, error, withAsterisk, children }: FieldFrameProps) {
  return (
    <fieldset className={styles.field}>
      <legend className={styles.label}>
        {label}
        {withAsterisk && <span className={styles.asterisk}> *</span>}
      </legend>
      <div className={styles.description}>{description}</div>
      {children}
      {error !== undefined && (
        <div className={styles.error} role="alert">
          {error}
        </div>
      )}
    </fieldset>
  )
}
