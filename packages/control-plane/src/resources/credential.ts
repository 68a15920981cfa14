import { formatTime, type JsonObject } from '@millrace/protocol'

/** A value that user code reads by its key; no route shows it. @see contracts/control-plane.md §7 [D726] */
export interface Credential {
  /** `[A-Za-z0-9_.-]{1,64}` */
  readonly key: string
  readonly value: string
  readonly createdAt: number
  readonly updatedAt: number
}

export function credentialJson({ key, updatedAt }: Credential): JsonObject {
  return { key, updatedAt: formatTime(updatedAt) }
}

/** Changes with every change of the credential. */
export function credentialTag({ updatedAt }: Credential): string {
  return `"${updatedAt}"`
}
