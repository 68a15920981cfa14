import { Button, Popover } from '@mantine/core'
import { useState } from 'react'
import { Icon } from '../shell/icon.tsx'
import { commonTexts } from '../texts.ts'
import styles from './api-popover.module.css'
import { CopyButton } from './copy-button.tsx'
import { curlText, type ShownRequest } from './curl-text.ts'

/** The request behind this very list or form, as curl. @see contracts/dashboard.md §12 [U17] */
export function ApiPopover(request: ShownRequest) {
  const [isOpen, setOpen] = useState(false)
  const text = curlText(window.location.origin, request)
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" width={480} shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <Button
          variant="default"
          leftSection={<Icon name="terminal" size={14} />}
          aria-label={`${commonTexts.api}: the same from the command line`}
          onClick={() => setOpen(!isOpen)}
        >
          {commonTexts.api}
        </Button>
      </Popover.Target>
      <Popover.Dropdown className={styles.dropdown}>
        <div className={styles.head}>
          <span>This view, with a token of yours</span>
          <CopyButton text={text} what="command" />
        </div>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
        <pre className={styles.text} tabIndex={0}>
          {text}
        </pre>
      </Popover.Dropdown>
    </Popover>
  )
}
