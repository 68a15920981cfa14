import { Button, Modal } from '@mantine/core'
import { settingsTexts } from '../texts.ts'
import { ShownId } from './shown-id.tsx'
import styles from './shown-once-dialog.module.css'

interface ShownOnceDialogProps {
  readonly title: string
  /** Name of the secret: `token`. */
  readonly what: string
  readonly secret: string
  /** Advice for the user. */
  readonly children: string
  readonly onClose: () => void
}

/** A secret that is shown only once: only its own button closes the dialog. */
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
