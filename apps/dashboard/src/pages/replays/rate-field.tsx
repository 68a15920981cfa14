import { NumberInput } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import { MAX_RATE } from './replays-search.ts'

interface RateFieldProps {
  readonly rate: number
  readonly onRate: (rate: number) => void
  readonly description?: ReactNode
}

/** Rate of a replay in events a second; reports the input when the server would accept it. */
export function RateField({ rate, onRate, description }: RateFieldProps) {
  const [typed, setTyped] = useState<string | number>(rate)
  useEffect(() => setTyped(rate), [rate])
  const type = (value: string | number) => {
    setTyped(value)
    if (typeof value === 'number' && value >= 1 && value <= MAX_RATE) onRate(value)
  }
  return (
    <NumberInput
      label="Events per second"
      description={description}
      min={1}
      max={MAX_RATE}
      allowDecimal={false}
      allowNegative={false}
      value={typed}
      onChange={type}
      onBlur={() => typed === '' && setTyped(rate)}
    />
  )
}
