import { Textarea } from '@mantine/core'
import type { JsonValue } from '@millrace/protocol/json'
import { type ComponentProps, useEffect, useState } from 'react'

interface JsonFieldProps
  extends Pick<
    ComponentProps<typeof Textarea>,
    'label' | 'description' | 'error' | 'disabled' | 'withAsterisk' | 'inputWrapperOrder'
  > {
  readonly value: JsonValue | undefined
  /** Called only with valid JSON. */
  readonly onChange: (value: JsonValue | undefined) => void
  /** Receives the error while the text is not JSON, then undefined. */
  readonly onFault?: (fault: string | undefined) => void
}

/** A value of any type, as JSON. */
export function JsonField({ value, onChange, onFault, error, ...common }: JsonFieldProps) {
  const [text, setText] = useState(() => (value === undefined ? '' : JSON.stringify(value, null, 2)))
  const [fault, setFault] = useState<string>()
  const write = (written: string) => {
    setText(written)
    const read = readJson(written)
    setFault('fault' in read ? read.fault : undefined)
    if (!('fault' in read)) onChange(read.value)
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a change of the fault is reported
  useEffect(() => {
    if (fault === undefined) return
    onFault?.(fault)
    return () => onFault?.(undefined)
  }, [fault])
  return (
    <Textarea
      {...common}
      error={fault ?? error}
      value={text}
      onChange={({ currentTarget }) => write(currentTarget.value)}
      minRows={3}
      maxRows={16}
      autosize
      spellCheck={false}
      styles={{ input: { fontFamily: 'var(--mono)' } }}
    />
  )
}

function readJson(text: string): { value: JsonValue | undefined } | { fault: string } {
  if (text.trim() === '') return { value: undefined }
  try {
    return { value: JSON.parse(text) as JsonValue }
  } catch (error) {
    return { fault: (error as SyntaxError).message }
  }
}
