import { Button, Popover } from '@mantine/core'
import { useState } from 'react'
import { Icon } from '../shell/icon.tsx'
import { commonTexts } from '../texts.ts'
import styles from './api-popover.module.css'
import { CopyButton } from './copy-button.tsx'

interface CommandPopoverProps {
  /** Text of the button. */
  readonly text: string
  /** Label of the button for screen readers. */
  readonly label: string
  /** Text above the command. */
  readonly title: string
  /** Undefined while the input cannot be read. */
  readonly command: string | undefined
}

/** Shows a command to copy. */
export function CommandPopover({ text, label, title, command }: CommandPopoverProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" width={480} shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <Button
          variant="default"
          leftSection={<Icon name="terminal" size={14} />}
          aria-label={label}
          onClick={() => setOpen(!isOpen)}
        >
          {text}
        </Button>
      </Popover.Target>
      <Popover.Dropdown className={styles.dropdown}>
        {command === undefined ? (
          <p>{commonTexts.noCommand}</p>
        ) : (
          <>
            <div className={styles.head}>
              <span>{title}</span>
              <CopyButton text={command} what="command" />
            </div>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
            <pre className={styles.text} tabIndex={0}>
              {command}
            </pre>
          </>
        )}
      </Popover.Dropdown>
    </Popover>
  )
}
