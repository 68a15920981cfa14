import { Link } from '@tanstack/react-router'
import { troublesOf, useHealth } from '../api/health.ts'
import styles from './shell.module.css'

/** Whether the server takes and delivers events, in a sign and a word. */
export function HealthMark() {
  const { data, isError } = useHealth()
  if (isError) return <State state="bad" sign="✕" word="No connection" text="The server does not answer." />
  if (data === undefined) return null
  const troubles = troublesOf(data)
  const isDown = data.acceptingEvents === 'FALSE' || data.routingEvents === 'FALSE'
  if (troubles.length === 0) return <State state="ok" sign="●" word="Healthy" text="All checks are ok." />
  const text = troubles.map(({ check, text }) => `${check}: ${text}`).join(' · ')
  return <State state="bad" sign={isDown ? '✕' : '▲'} word={isDown ? 'Trouble' : 'Warning'} text={text} />
}

interface StateProps {
  readonly state: 'ok' | 'bad'
  readonly sign: string
  readonly word: string
  readonly text: string
}

function State({ state, sign, word, text }: StateProps) {
  return (
    <Link
      to="/settings/health"
      className={styles.health}
      data-state={state}
      data-tip={text}
      aria-label={`${word}: ${text}`}
    >
      <span aria-hidden="true">{sign}</span>
      <span className={styles.healthText}>{word}</span>
    </Link>
  )
}
