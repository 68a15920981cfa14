import { ActionIcon, Tooltip, VisuallyHidden } from '@mantine/core'
import { useEffect, useState } from 'react'
import { Icon } from '../shell/icon.tsx'
import { commonTexts } from '../texts.ts'
import { copyText } from './copy-text.ts'

interface CopyButtonProps {
  readonly text: string
  /** What is copied: `write key`, `id`. */
  readonly what: string
}

/** Copies a text, and says that it did. */
export function CopyButton({ text, what }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<'copied' | 'failed'>()
  useEffect(() => {
    if (outcome === undefined) return
    const timer = setTimeout(() => setOutcome(undefined), 2000)
    return () => clearTimeout(timer)
  }, [outcome])
  const said = { copied: 'Copied', failed: 'The browser does not allow it' }
  return (
    <>
      <Tooltip label={outcome === undefined ? `${commonTexts.copy} ${what}` : said[outcome]}>
        <ActionIcon
          variant="subtle"
          color="gray"
          size={24}
          aria-label={`${commonTexts.copy} ${what}`}
          onClick={(event) => {
            event.stopPropagation()
            void copyText(text).then((isDone) => setOutcome(isDone ? 'copied' : 'failed'))
          }}
        >
          <Icon name={outcome === 'copied' ? 'check' : 'copy'} size={14} />
        </ActionIcon>
      </Tooltip>
      <VisuallyHidden role="status">{outcome !== undefined && said[outcome]}</VisuallyHidden>
    </>
  )
}
