/** Versions of user code from their column. */
export function versionsOf(versionIds: string | null): readonly string[] {
  return versionIds === null ? [] : (JSON.parse(versionIds) as string[])
}
