import type { EventVersion } from '@millrace/api-types'

/** A version in the list. */
export interface VersionBar {
  readonly version: EventVersion
  /** Ordered by first seen, from 1. */
  readonly number: number
  /** Place in the period in which any version was seen, from 0 to 1. */
  readonly start: number
  readonly width: number
}

/** The versions, newest first, each with its share of the period. @param versions by FirstSeen. */
export function versionBars(versions: readonly EventVersion[]): VersionBar[] {
  const from = Math.min(...versions.map(({ FirstSeen }) => Date.parse(FirstSeen)))
  const to = Math.max(...versions.map(({ LastSeen }) => Date.parse(LastSeen)))
  // If all versions have the same time, each fills the period.
  const span = Math.max(to - from, 1)
  const place = (at: string) => (to === from ? 0 : (Date.parse(at) - from) / span)
  return versions
    .map((version, at) => ({
      version,
      number: at + 1,
      start: place(version.FirstSeen),
      width: to === from ? 1 : place(version.LastSeen) - place(version.FirstSeen),
    }))
    .reverse()
}

export interface Compared {
  readonly version: VersionBar
  readonly against: VersionBar
}

/** The two versions in a link; by default the newest and its predecessor. @param bars newest first. */
export function comparedVersions(
  bars: readonly VersionBar[],
  chosen: { readonly version?: string | undefined; readonly against?: string | undefined },
): Compared | undefined {
  const find = (id: string | undefined) => bars.find(({ version }) => version.VersionID === id)
  const version = find(chosen.version) ?? bars.find((bar) => bar !== find(chosen.against))
  const against =
    find(chosen.against) ?? bars.find(({ number }) => version !== undefined && number < version.number) ?? bars[0]
  return version === undefined || against === undefined || version === against ? undefined : { version, against }
}
