export type Precision = 'minute' | 'second' | 'millisecond'

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** `09:15:31` today, `4 Mar 09:15:31` this year, else with the year; in the reader's time zone. */
export function localTime(at: Date, now: Date, precision: Precision): string {
  const clock = clockText(at, precision)
  if (at.toDateString() === now.toDateString()) return clock
  const day = `${at.getDate()} ${MONTHS[at.getMonth()]}`
  return at.getFullYear() === now.getFullYear() ? `${day} ${clock}` : `${day} ${at.getFullYear()} ${clock}`
}

function clockText(at: Date, precision: Precision): string {
  const two = (value: number) => String(value).padStart(2, '0')
  const minute = `${two(at.getHours())}:${two(at.getMinutes())}`
  if (precision === 'minute') return minute
  const second = `${minute}:${two(at.getSeconds())}`
  return precision === 'second' ? second : `${second}.${String(at.getMilliseconds()).padStart(3, '0')}`
}
