import { Button, Checkbox, Modal } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import styles from './confirm-dialog.module.css'
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
  const [state, setState] = useState<'asking' | 'doing' | Error>('asking')
  const confirm = async () => {
    setState('doing')
    try {
      await onConfirm()
      onClose()
    } catch (error) {
      setState(error as Error)
    }
  }
  const toggle = (name: string) => setChecked((before) => new Set(before).symmetricDifference(new Set([name])))
  return (
    <Modal opened onClose={onClose} title={title} size="md" closeButtonProps={{ 'aria-label': 'Close' }}>
      <div className={styles.body}>
        {children}
        {checks.map(({ name, label }) => (
          <Checkbox key={name} label={label} checked={checked.has(name)} onChange={() => toggle(name)} />
        ))}
        <Refusal error={state instanceof Error ? state : null} />
        <div className={styles.actions}>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button
            {...(isDanger ? { color: 'bad' } : {})}
            loading={state === 'doing'}
            disabled={checks.some(({ name }) => !checked.has(name))}
            onClick={() => void confirm()}
          >
            {action}
          </Button>
        </div>
      </div>
    </Modal>
  )
}
