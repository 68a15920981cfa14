import { createHash } from 'node:crypto'
import { isJsonObject } from '@millrace/protocol/json'

/*
 * A backup is one tar file in standard format. Its members, in this order:
 *
 *   millrace-backup    number of this format: a reader recognises a later format before it reads anything else
 *   delivery.db        the delivery state
 *   catalog.db         the counts of the schema catalog, with its position; absent from older backups
 *   control.db         the configuration, users, audit log; secrets are encrypted, and a backup does not hold their key
 *   inbox.key          the quickstart's inbox path, if there is one
 *   admin-password     digest of the generated password of the schema API, if there is one
 *   log/<offset>.db    closed segments of the log, oldest first; none if the log was omitted
 *   manifest.json      the members, with sizes and SHA-256
 *   manifest.sha256    SHA-256 of manifest.json, as 64 hex digits
 *
 * The manifest is last because the hash of a member is known only after writing it; a file without a manifest is
 * truncated.
 */
export const BACKUP_FORMAT = 1
export const FORMAT_MEMBER = 'millrace-backup'
export const MANIFEST_MEMBER = 'manifest.json'
export const DIGEST_MEMBER = 'manifest.sha256'

export interface BackupMember {
  readonly name: string
  readonly sizeBytes: number
  /** As 64 hex digits. */
  readonly sha256: string
}

/** Description of a backup. */
export interface Manifest {
  readonly format: number
  /** Format of the copied data folder. */
  readonly dataFormat: number
  /** Version of the program that made it. */
  readonly version: string
  /** RFC 3339 time of its start. */
  readonly createdAt: string
  readonly hasLog: boolean
  /** All members except the manifest and its digest. */
  readonly members: readonly BackupMember[]
}

/** The places in a data folder that a backup may contain. */
export function isBackupMember(name: string): boolean {
  return (
    ['delivery.db', 'catalog.db', 'control.db', 'inbox.key', 'admin-password'].includes(name) ||
    /^log\/\d{1,16}\.db$/.test(name)
  )
}

/** @returns undefined for an invalid manifest. */
export function parseManifest(text: string): Manifest | undefined {
  try {
    const parsed: unknown = JSON.parse(text)
    const isManifest =
      isJsonObject(parsed) &&
      Array.isArray(parsed['members']) &&
      ['format', 'dataFormat'].every((name) => typeof parsed[name] === 'number') &&
      ['version', 'createdAt'].every((name) => typeof parsed[name] === 'string')
    return isManifest ? (parsed as unknown as Manifest) : undefined
  } catch {
    return undefined
  }
}

export function sha256(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
