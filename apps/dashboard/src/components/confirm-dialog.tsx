import { Button, Checkbox } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import styles from './confirm-dialog.module.css'
import { Dialog } from './dialog.tsx'
import { Refusal } from './form/refusal.tsx'

interface ConfirmDialogProps {
  readonly title: string
  /** Describes the consequences. */
  readonly children?: ReactNode
  /** Consequences that the user must confirm separately. */
  readonly checks?: readonly { readonly name: string; readonly label: string }[]
  /** Label of the button: `Delete`, `Revoke`. */
  readonly action: string
  readonly isDanger?: boolean
  /** The dialog closes when this resolves; it shows an error and allows a retry. */
  readonly onConfirm: () => Promise<unknown>
  readonly onClose: () => void
}

/** Asks for confirmation before an action that cannot be undone. */
export function ConfirmDialog({
  title,
  children,
  checks = [],
  action,
  isDanger = true,
  onConfirm,
  onClose,
}: ConfirmDialogProps) {
  const [checked, setChecked] = useState<ReadonlySet<string>>(new Set())
  const [state, setState] = useState<'doing' | Error | null>(null)
  const confirm = async () => {
    setState('doing')
    try {
      await onConfirm()
      onClose()
    } catch (error) {
      setState(error as Error)
    }
  }
  const isDoing = state === 'doing'
  const toggle = (name: string) => setChecked((before) => new Set(before).symmetricDifference(new Set([name])))
  return (
    <Dialog title={title} isWriting={isDoing} onClose={onClose}>
      <div className={styles.body}>
        {children}
        {checks.map(({ name, label }) => (
          <Checkbox key={name} label={label} checked={checked.has(name)} onChange={() => toggle(name)} />
        ))}
        <Refusal error={isDoing ? null : state} />
        <div className={styles.actions}>
          <Button variant="default" disabled={isDoing} onClick={onClose}>
            Cancel
          </Button>
          <Button
            {...(isDanger ? { color: 'bad' } : {})}
            loading={isDoing}
            disabled={checks.some(({ name }) => !checked.has(name))}
            onClick={() => void confirm()}
          >
            {action}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
