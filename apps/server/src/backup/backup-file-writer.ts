import { createHash } from 'node:crypto'
import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs'
import {
  BACKUP_FORMAT,
  type BackupMember,
  DIGEST_MEMBER,
  FORMAT_MEMBER,
  MANIFEST_MEMBER,
  type Manifest,
  sha256,
} from './manifest.ts'
import { END_BYTES, paddingOf, tarHeader } from './tar.ts'

const CHUNK_BYTES = 1024 * 1024

/** Writes a backup member by member; blocks its thread. The file is a valid backup only after `finish` returns. */
export class BackupFileWriter implements Disposable {
  readonly #file: number
  readonly #modifiedAt: number
  readonly #members: BackupMember[] = []

  /**
   * @param path must not exist yet; readable by its owner only.
   * @param createdAt milliseconds since 1970, for all members.
   */
  constructor(path: string, createdAt: number) {
    this.#modifiedAt = Math.floor(createdAt / 1000)
    this.#file = openSync(path, 'wx', 0o600)
    this.#addText(FORMAT_MEMBER, `${BACKUP_FORMAT}\n`)
  }

  /**
   * Adds a file that does not change meanwhile. @throws Error with code ENOENT if it does not exist; then nothing is
   * added.
   */
  addFile(name: string, path: string): void {
    const source = openSync(path, 'r')
    try {
      const { size } = fstatSync(source)
      this.#write(tarHeader({ name, sizeBytes: size, modifiedAt: this.#modifiedAt }))
      const hash = createHash('sha256')
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
      for (let left = size; left > 0; ) {
        const read = readSync(source, chunk, 0, Math.min(left, CHUNK_BYTES), null)
        if (read === 0) throw new Error(`${path} shrank while it was copied`)
        hash.update(chunk.subarray(0, read))
        this.#write(chunk.subarray(0, read))
        left -= read
      }
      this.#write(Buffer.alloc(paddingOf(size)))
      this.#members.push({ name, sizeBytes: size, sha256: hash.digest('hex') })
    } finally {
      closeSync(source)
    }
  }

  /** Writes the manifest and syncs the file. */
  finish(head: Omit<Manifest, 'format' | 'members'>): void {
    const manifest: Manifest = { format: BACKUP_FORMAT, ...head, members: this.#members.slice() }
    const text = `${JSON.stringify(manifest, undefined, 2)}\n`
    this.#addText(MANIFEST_MEMBER, text)
    this.#addText(DIGEST_MEMBER, `${sha256(text)}\n`)
    this.#write(Buffer.alloc(END_BYTES))
    fsyncSync(this.#file)
  }

  [Symbol.dispose](): void {
    closeSync(this.#file)
  }

  #addText(name: string, text: string): void {
    const bytes = Buffer.from(text)
    this.#write(tarHeader({ name, sizeBytes: bytes.length, modifiedAt: this.#modifiedAt }))
    this.#write(bytes)
    this.#write(Buffer.alloc(paddingOf(bytes.length)))
    this.#members.push({ name, sizeBytes: bytes.length, sha256: sha256(bytes) })
  }

  #write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at)
  }
}
