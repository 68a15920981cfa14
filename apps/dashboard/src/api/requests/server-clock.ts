/** Tolerance for the header Date, which counts whole seconds, and for the network. */
const UNSURE_MS = 3000

let aheadMs = 0

/** Receives the Date of every answer; small differences are ignored. */
export function noteServerDate(date: string | null, now: number): void {
  const ahead = Date.parse(date ?? '') - now
  if (!Number.isNaN(ahead)) aheadMs = Math.abs(ahead) <= UNSURE_MS ? 0 : ahead
}

/** The server's time, in milliseconds since 1970: ranges of its figures use its clock. */
export function serverNow(): number {
  return Date.now() + aheadMs
}
