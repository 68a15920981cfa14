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
