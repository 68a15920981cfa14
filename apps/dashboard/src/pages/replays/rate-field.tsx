import type { ReactNode } from 'react'
import { NumberField } from '../../components/form/number-field.tsx'
import { MAX_RATE } from './replays-search.ts'

interface RateFieldProps {
  readonly rate: number
  readonly onRate: (rate: number) => void
  readonly description?: ReactNode
}

/** Rate of a replay in events a second; reports the input when the server would accept it. */
export function RateField({ rate, onRate, description }: RateFieldProps) {
  return (
    <NumberField
      label="Events per second"
      description={description}
      min={1}
      max={MAX_RATE}
      allowDecimal={false}
      allowNegative={false}
      value={rate}
      onChange={(written) => written >= 1 && written <= MAX_RATE && onRate(written)}
    />
  )
}
