import { Button, Modal } from '@mantine/core'
import { settingsTexts } from '../texts.ts'
import { ShownId } from './shown-id.tsx'
import styles from './shown-once-dialog.module.css'

interface ShownOnceDialogProps {
  readonly title: string
  /** What it is: `token`. */
  readonly what: string
  readonly secret: string
  /** What to do with it. */
  readonly children: string
  readonly onClose: () => void
}

/** A secret that nobody sees again: only its own button closes the dialog. */
export function ShownOnceDialog({ title, what, secret, children, onClose }: ShownOnceDialogProps) {
  return (
    <Modal
      opened
      onClose={() => {}}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      title={title}
    >
      <div className={styles.body}>
        <p>{children}</p>
        <div className={styles.secret}>
          <ShownId id={secret} what={what} />
        </div>
        <Button onClick={onClose}>{settingsTexts.stored}</Button>
      </div>
    </Modal>
  )
}
