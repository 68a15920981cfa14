/** Edited members of a resource, and the ETag of the whole resource at that time. */
export interface Base<T> {
  readonly members: T
  readonly etag: string | null
}

/**
 * ETag for a save: the newest while the edited members are unchanged, since Enable or Publish change it too. Otherwise
 * the ETag of the base, so the server refuses the save.
 */
export function etagForSave<T>(base: Base<T>, live: Base<T> | undefined): string | null {
  return live !== undefined && isSame(live.members, base.members) ? live.etag : base.etag
}

/** The input after a save: the server's members, except those that the user changed while the save was in flight. */
export function inputAfterSave<T extends object>(written: T, sent: T, saved: T): T {
  const changed = Object.entries(written).filter(([key, value]) => !isSame(value, sent[key as keyof T]))
  return { ...saved, ...Object.fromEntries(changed) }
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
