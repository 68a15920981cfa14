import { Link } from '@tanstack/react-router'
import { troublesOf, useHealth } from '../api/health.ts'
import { useSilentSince } from '../api/requests/silence.ts'
import { localTime } from '../components/time/time-text.ts'
import { useTroubledDestinations } from '../components/troubled-destinations.ts'
import { healthTexts as texts } from '../texts.ts'
import styles from './shell.module.css'

const MAX_NAMED = 5

/**
 * A mark and a word: whether the server accepts events and every destination gets them. It shows the worst state. Grey
 * means unknown, never well.
 *
 * @see contracts/dashboard.md §3
 */
export function HealthMark() {
  const { data, isError } = useHealth()
  const silentSince = useSilentSince()
  const troubled = useTroubledDestinations()
  if (silentSince !== null) {
    const text = texts.noAnswerMeaning(localTime(new Date(silentSince), new Date(), 'second'))
    return <State state="unknown" sign="○" word={texts.noAnswer} text={text} />
  }
  if (isError) return <State state="bad" sign="✕" word={texts.noConnection} text={texts.noConnectionMeaning} />
  if (data === undefined) return null
  const troubles = troublesOf(data)
  const text = troubles.map(({ check, text }) => `${check}: ${text}`).join(' · ')
  if (data.acceptingEvents === 'FALSE' || data.routingEvents === 'FALSE') {
    return <State state="bad" sign="✕" word={texts.trouble} text={text} />
  }
  if (troubled !== undefined && troubled.length > 0) {
    const isBad = troubled.some(({ state }) => state.kind !== 'behind')
    const named = troubled.slice(0, MAX_NAMED).map(({ name, state }) => `${name}: ${state.word}`)
    const more = troubled.length > MAX_NAMED ? [`${troubled.length - MAX_NAMED} more`] : []
    return (
      <State
        state={isBad ? 'bad' : 'warn'}
        sign={isBad ? '■' : '▲'}
        word={texts.needAttention(troubled.length)}
        short={String(troubled.length)}
        text={[...named, ...more].join(' · ')}
        to="/destinations"
        search={{ state: 'attention' }}
      />
    )
  }
  if (troubles.length > 0) return <State state="warn" sign="▲" word={texts.warning} text={text} />
  return <State state="ok" sign="●" word={texts.ok} text={texts.okMeaning} />
}

interface StateProps {
  readonly state: 'ok' | 'warn' | 'bad' | 'unknown'
  readonly sign: string
  readonly word: string
  /** Used instead of the word if space is short. */
  readonly short?: string
  readonly text: string
  readonly to?: string
  readonly search?: Readonly<Record<string, string>>
}

function State({ state, sign, word, short, text, to = '/settings/health', search = {} }: StateProps) {
  return (
    <Link
      to={to}
      search={search as never}
      className={styles.health}
      data-state={state}
      data-tip={text}
      aria-label={`${word}: ${text}`}
    >
      <span aria-hidden="true">{sign}</span>
      <span className={styles.healthText}>{word}</span>
      {short !== undefined && <span className={styles.healthShort}>{short}</span>}
    </Link>
  )
}
