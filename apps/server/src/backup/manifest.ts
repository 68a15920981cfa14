import { createHash } from 'node:crypto'
import { isJsonObject } from '@millrace/protocol'

/*
 * A backup is one tar file, readable for every tar. Its members, in this order:
 *
 *   millrace-backup    number of this format, so that a later one is known before anything else is read
 *   delivery.db        the delivery state
 *   catalog.db         what the schema catalog has counted, with its position; of an older backup, missing
 *   control.db         the configuration, people, audit log; secrets in it are encrypted, and their key is not in a backup
 *   inbox.key          the quickstart's inbox path, where there is one
 *   admin-password     digest of the generated password of the schema API, where there is one
 *   log/<offset>.db    closed segments of the log, oldest first; none if the log was left out
 *   manifest.json      what there is, with sizes and SHA-256
 *   manifest.sha256    SHA-256 of manifest.json, as 64 hex digits
 *
 * The manifest stands last because a member's hash is known when it has been written; a file without it is cut.
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

/** What a backup says of itself. */
export interface Manifest {
  readonly format: number
  /** Of the data folder that it is a copy of. */
  readonly dataFormat: number
  /** Of the program that made it. */
  readonly version: string
  /** RFC 3339: when it was begun. */
  readonly createdAt: string
  readonly hasLog: boolean
  /** Everything but the manifest itself and its digest. */
  readonly members: readonly BackupMember[]
}

/** The places in a data folder that a backup may hold. */
export function isBackupMember(name: string): boolean {
  return (
    ['delivery.db', 'catalog.db', 'control.db', 'inbox.key', 'admin-password'].includes(name) ||
    /^log\/\d{1,16}\.db$/.test(name)
  )
}

/** @returns undefined if it is none. */
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
