export type Precision = 'minute' | 'second' | 'millisecond'

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** `09:15:31` of today, `4 Mar 09:15:31` of this year, else with the year; in the zone of the reader's clock. */
export function localTime(at: Date, now: Date, precision: Precision): string {
  const clock = clockText(at, precision)
  if (at.toDateString() === now.toDateString()) return clock
  const day = `${at.getDate()} ${MONTHS[at.getMonth()]}`
  return at.getFullYear() === now.getFullYear() ? `${day} ${clock}` : `${day} ${at.getFullYear()} ${clock}`
}

/** `5 s`, `12 min`, `3 h 20 min`, `4 d 2 h`: two units at most, rounded down. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 60_000) return `${ms < 10_000 ? Math.floor(ms / 100) / 10 : Math.floor(ms / 1000)} s`
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 60) return `${minutes} min`
  const [large, small, names] = minutes < 24 * 60 ? [60, 1, ['h', 'min']] : [24 * 60, 60, ['d', 'h']]
  const rest = Math.floor((minutes % large) / small)
  return `${Math.floor(minutes / large)} ${names[0]}${rest === 0 ? '' : ` ${rest} ${names[1]}`}`
}

function clockText(at: Date, precision: Precision): string {
  const two = (value: number) => String(value).padStart(2, '0')
  const minute = `${two(at.getHours())}:${two(at.getMinutes())}`
  if (precision === 'minute') return minute
  const second = `${minute}:${two(at.getSeconds())}`
  return precision === 'second' ? second : `${second}.${String(at.getMilliseconds()).padStart(3, '0')}`
}
