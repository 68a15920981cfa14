import type { EventVersion } from '@millrace/api-types'

/** A version as it stands in the list. */
export interface VersionBar {
  readonly version: EventVersion
  /** By first seen, from 1. */
  readonly number: number
  /** From 0 to 1 of the time in which any version was seen. */
  readonly start: number
  readonly width: number
}

/** The versions, newest first, each with its place in the time of all. @param versions by FirstSeen. */
export function versionBars(versions: readonly EventVersion[]): VersionBar[] {
  const from = Math.min(...versions.map(({ FirstSeen }) => Date.parse(FirstSeen)))
  const to = Math.max(...versions.map(({ LastSeen }) => Date.parse(LastSeen)))
  // Of one moment everything is the whole of it.
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

/** The two that a link names; the newest and the one before it unless it does. @param bars newest first. */
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
