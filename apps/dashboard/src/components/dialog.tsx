import { type MantineSize, Modal } from '@mantine/core'
import type { ReactNode } from 'react'

interface DialogProps {
  readonly title: string
  readonly size?: MantineSize
  /** While the dialog writes, nothing closes it: it shows the answer. */
  readonly isWriting?: boolean
  readonly onClose: () => void
  readonly children: ReactNode
}

/** A dialog over the page. Esc, a click beside it and its cross close it, except while it writes. */
export function Dialog({ isWriting = false, onClose, ...shown }: DialogProps) {
  const close = () => isWriting || onClose()
  return <Modal opened {...shown} onClose={close} closeButtonProps={{ 'aria-label': 'Close', disabled: isWriting }} />
}
