import { grouped } from '@millrace/wording'

/** `0.4`, `12`, `1,204`, `12.4k`, `3.1M`: three significant digits. */
export function shortNumber(value: number): string {
  if (value < 10 && !Number.isInteger(value)) return (Math.round(value * 10) / 10).toString()
  if (value < 10_000) return grouped(Math.round(value))
  if (value < 999_500) return `${scaled(value, 1000)}k`
  return `${scaled(value, 1_000_000)}M`
}

/** `0`, `3/min`, `12.4/s`: per second from one per second. */
export function rateText(perSecond: number | null): string {
  if (perSecond === null) return '–'
  if (perSecond === 0) return '0'
  if (perSecond >= 1) return `${rateNumber(perSecond)}/s`
  const perMinute = perSecond * 60
  return perMinute >= 1 ? `${rateNumber(perMinute)}/min` : `${rateNumber(Math.max(perMinute * 60, 0.1))}/h`
}

/**
 * Three significant digits for small rates too: users compare rates with other tools (contracts/dashboard.md §15 item
 * 13).
 */
function rateNumber(value: number): string {
  return value < 100 ? Number(value.toPrecision(3)).toString() : shortNumber(value)
}

/** `512 B`, `32 KB`, `73.4 MB`: powers of 1,000, as for disks. */
export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  const units = ['KB', 'MB', 'GB', 'TB']
  const step = Math.min(Math.floor(Math.log10(bytes) / 3), units.length)
  return `${scaled(bytes, 1000 ** step)} ${units[step - 1]}`
}

function scaled(value: number, unit: number): string {
  const of = value / unit
  return of < 100 ? (Math.floor(of * 10) / 10).toString() : grouped(Math.floor(of))
}
