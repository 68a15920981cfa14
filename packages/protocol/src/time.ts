const MS_PER_DAY = 86_400_000

/**
 * Reads an ISO 8601 date or date-time; without an offset it is UTC.
 *
 * @returns milliseconds since 1970, or undefined for anything else.
 * @see contracts/ingest.md §5 "parseable"
 */
export function parseTime(value: unknown): number | undefined {
  if (typeof value !== 'string') return undefined
  return isCanonical(value) ? parseCanonical(value) : parseAnyForm(value)
}

/** RFC 3339 can write the years 0 to 9999. */
export const EARLIEST_TIME = Date.parse('0000-01-01T00:00:00.000Z')
export const LATEST_TIME = Date.parse('9999-12-31T23:59:59.999Z')

/** Formats a time as RFC 3339 in UTC with milliseconds and Z, the only format in outputs. */
export function formatTime(ms: number): string {
  const slot = formattedTimes[ms & TIME_SLOTS_MASK]!
  if (slot.ms !== ms) {
    slot.text = format(ms)
    slot.ms = ms
  }
  return slot.text
}

function format(ms: number): string {
  const day = Math.floor(ms / MS_PER_DAY)
  const slot = formattedDays[day & DAY_SLOTS_MASK]!
  if (slot.day !== day) {
    slot.day = day
    slot.codes = Array.from(new Date(day * MS_PER_DAY).toISOString().slice(0, 11), (digit) => digit.charCodeAt(0))
  }
  const rest = Math.floor(ms - day * MS_PER_DAY)
  const seconds = Math.floor(rest / 1000)
  const minutes = Math.floor(seconds / 60)
  const hours = Math.floor(minutes / 60)
  const c = slot.codes
  // One flat text: put together from parts V8 would keep a rope, and writing an event as JSON would take twice as long.
  // biome-ignore format: a digit is a digit
  return String.fromCharCode(
    c[0]!, c[1]!, c[2]!, c[3]!, c[4]!, c[5]!, c[6]!, c[7]!, c[8]!, c[9]!, c[10]!,
    ZERO + Math.floor(hours / 10), ZERO + (hours % 10), COLON,
    ZERO + Math.floor((minutes % 60) / 10), ZERO + (minutes % 10), COLON,
    ZERO + Math.floor((seconds % 60) / 10), ZERO + (seconds % 10), POINT,
    ZERO + Math.floor((rest % 1000) / 100), ZERO + (Math.floor(rest / 10) % 10), ZERO + (rest % 10), LETTER_Z,
  )
}

const ZERO = 48
const COLON = 58
const POINT = 46
const LETTER_Z = 90

// The events of a batch share most of their times.
const TIME_SLOTS_MASK = 15
const formattedTimes = Array.from({ length: TIME_SLOTS_MASK + 1 }, () => ({ ms: Number.NaN, text: '' }))

// An event has about four times, nearly always of a few days and in our own format. A small cache of days makes this case
// cheap: the character codes of `2026-03-04T` by day number, and the start of a day by its written date.
const DAY_SLOTS_MASK = 15
const formattedDays = Array.from({ length: DAY_SLOTS_MASK + 1 }, () => ({ day: Number.NaN, codes: [] as number[] }))
const parsedDays = Array.from({ length: DAY_SLOTS_MASK + 1 }, () => ({ date: -1, ms: undefined as number | undefined }))

/** Whether a text has the form `2026-03-04T09:15:27.120Z`; its numbers may still be out of range. */
function isCanonical(text: string): boolean {
  if (text.length !== 24) return false
  for (let i = 0; i < 24; i++) {
    const unit = text.charCodeAt(i)
    const wanted = CANONICAL.charCodeAt(i)
    if (wanted === DIGIT ? unit < 48 || unit > 57 : unit !== wanted) return false
  }
  return true
}

const CANONICAL = '0000-00-00T00:00:00.000Z'
const DIGIT = CANONICAL.charCodeAt(0)

function parseCanonical(text: string): number | undefined {
  const dayOfMonth = twoDigits(text, 8)
  const date = ((twoDigits(text, 0) * 100 + twoDigits(text, 2)) * 100 + twoDigits(text, 5)) * 100 + dayOfMonth
  const slot = parsedDays[dayOfMonth & DAY_SLOTS_MASK]!
  if (slot.date !== date) {
    slot.date = date
    slot.ms = parseAnyForm(text.slice(0, 10))
  }
  const hour = twoDigits(text, 11)
  const minute = twoDigits(text, 14)
  const second = twoDigits(text, 17)
  if (slot.ms === undefined || hour > 23 || minute > 59 || second > 59) return undefined
  const millisecond = twoDigits(text, 20) * 10 + text.charCodeAt(22) - 48
  return slot.ms + ((hour * 60 + minute) * 60 + second) * 1000 + millisecond
}

function twoDigits(text: string, at: number): number {
  return text.charCodeAt(at) * 10 + text.charCodeAt(at + 1) - 528
}

// A date, an optional time with seconds and fraction, and an optional Z or offset. A blank may replace the T (RFC 3339).
const DATE = /(\d{4})-(\d\d)-(\d\d)/.source
const TIME = /(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?/.source
const OFFSET = /[Zz]|([+-])(\d\d)(?::?(\d\d))?/.source
const ISO_8601 = new RegExp(`^${DATE}(?:[Tt ]${TIME}(?:${OFFSET})?)?$`)

function parseAnyForm(text: string): number | undefined {
  const match = ISO_8601.exec(text)
  if (match === null) return undefined
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((digits) => Number(digits ?? 0)) as SixNumbers
  const [fraction = '', sign, offsetHour = '0', offsetMinute = '0'] = match.slice(7)
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined
  if (hour > 23 || minute > 59 || second > 59 || +offsetHour > 23 || +offsetMinute > 59) return undefined
  const milliseconds = Number(`${fraction}000`.slice(0, 3))
  // Date.UTC reads the years 0 to 99 as 1900 to 1999. So add 400 years, a whole number of days, and subtract them again.
  const utc = Date.UTC(year + 400, month - 1, day, hour, minute, second, milliseconds) - DAYS_IN_400_YEARS * MS_PER_DAY
  const offsetMs = (+offsetHour * 60 + +offsetMinute) * 60_000
  const ms = sign === '-' ? utc + offsetMs : utc - offsetMs
  // An offset could give a year that RFC 3339 cannot write.
  return ms >= EARLIEST_TIME && ms <= LATEST_TIME ? ms : undefined
}

type SixNumbers = [number, number, number, number, number, number]

const DAYS_IN_400_YEARS = 146_097

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}
