import { Button } from '@mantine/core'
import type { TailState } from '../../api/tail.ts'
import { StateMark } from '../../components/state-mark.tsx'

interface LiveSwitchProps {
  readonly tail: TailState
  readonly isPaused: boolean
  readonly onChange: () => void
}

/** Switches the display of new events on and off; Space does the same. */
export function LiveSwitch({ tail, isPaused, onChange }: LiveSwitchProps) {
  return (
    <Button variant="default" aria-pressed={!isPaused} title="Space pauses and resumes" onClick={onChange}>
      <StateMark kind={isPaused ? 'off' : tail === 'open' ? 'ok' : 'waiting'}>{isPaused ? 'Paused' : 'Live'}</StateMark>
    </Button>
  )
}
