/** Of the header Date, which counts whole seconds, and of the way here. */
const UNSURE_MS = 3000

let aheadMs = 0

/** Told the Date of every answer; a browser whose clock is right is left alone. */
export function noteServerDate(date: string | null, now: number): void {
  const ahead = Date.parse(date ?? '') - now
  if (!Number.isNaN(ahead)) aheadMs = Math.abs(ahead) <= UNSURE_MS ? 0 : ahead
}

/** The time of day at the server, in milliseconds since 1970: ranges of its figures are of its clock. */
export function serverNow(): number {
  return Date.now() + aheadMs
}
