import { Textarea } from '@mantine/core'
import { isJsonObject, type JsonValue } from '@millrace/protocol/json'
import { type ComponentProps, useEffect } from 'react'
import { useDraft } from './use-draft.ts'

interface JsonFieldProps
  extends Pick<
    ComponentProps<typeof Textarea>,
    'label' | 'description' | 'error' | 'disabled' | 'withAsterisk' | 'inputWrapperOrder'
  > {
  readonly value: JsonValue | undefined
  /** Count of saves, which may change the value. */
  readonly saves?: number
  /** What it must be; any JSON unless given. */
  readonly shape?: 'object' | 'list'
  /** Called only with a valid value. */
  readonly onChange: (value: JsonValue | undefined) => void
  /** Receives the error while the text is no valid value, then undefined. */
  readonly onFault?: (fault: string | undefined) => void
}

/** A value of any type, as JSON. */
export function JsonField({ value, saves = 0, shape, onChange, onFault, error, ...common }: JsonFieldProps) {
  const [text, keep] = useDraft(value, saves, textOf)
  const read = readJson(text, shape)
  const fault = 'fault' in read ? read.fault : undefined
  const write = (written: string) => {
    const now = readJson(written, shape)
    keep(written, 'fault' in now ? value : now.value)
    if (!('fault' in now)) onChange(now.value)
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

function textOf(value: JsonValue | undefined): string {
  return value === undefined ? '' : JSON.stringify(value, null, 2)
}

function readJson(text: string, shape: JsonFieldProps['shape']): { value: JsonValue | undefined } | { fault: string } {
  if (text.trim() === '') return { value: undefined }
  try {
    const value = JSON.parse(text) as JsonValue
    if (shape === 'object' && !isJsonObject(value)) return { fault: 'must be a JSON object' }
    if (shape === 'list' && !Array.isArray(value)) return { fault: 'must be a JSON list: [ … ]' }
    return { value }
  } catch (error) {
    return { fault: (error as SyntaxError).message }
  }
}
