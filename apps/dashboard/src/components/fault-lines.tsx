import type { CodeFault } from './editor/editor-props.ts'
import styles from './fault-lines.module.css'

/** Below an editor: what is wrong in it. Its marks show a text only to a mouse. */
export function FaultLines({ faults }: { readonly faults: readonly CodeFault[] }) {
  return (
    <div role="status" className={styles.faults}>
      {faults.map(({ line, column, message }) => (
        <p key={`${line}:${column}`}>{`Line ${line}, column ${column}: ${message}`}</p>
      ))}
    </div>
  )
}
