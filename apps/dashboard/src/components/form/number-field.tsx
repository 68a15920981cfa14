import { NumberInput, type NumberInputProps } from '@mantine/core'
import { useEffect, useState } from 'react'

type NumberFieldProps = Omit<NumberInputProps, 'value' | 'onChange' | 'onBlur'> &
  (
    | { readonly isOptional?: false; readonly value: number; readonly onChange: (value: number) => void }
    | {
        readonly isOptional: true
        readonly value: number | undefined
        readonly onChange: (value: number | undefined) => void
      }
  )

/**
 * A field for a number. `onChange` receives numbers only, while the text may be empty or `-` for a moment. If the user empties an optional
 * field, `onChange` receives undefined; a required field shows its last number again when the user leaves it.
 */
export function NumberField({ value, onChange, isOptional = false, ...input }: NumberFieldProps) {
  const [written, setWritten] = useState<number | string>(value ?? '')
  useEffect(() => setWritten(value ?? ''), [value])
  const tell = onChange as (value: number | undefined) => void
  const write = (next: number | string) => {
    setWritten(next)
    if (typeof next === 'number') tell(next)
    else if (next === '' && isOptional) tell(undefined)
  }
  const leave = () => typeof written !== 'number' && setWritten(value ?? '')
  return <NumberInput {...input} value={written} onChange={write} onBlur={leave} />
}
