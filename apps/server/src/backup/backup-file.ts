import { createHash } from 'node:crypto'
import { type FileHandle, mkdir, open, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DATA_FORMAT } from '../data-folder/data-folder.ts'
import {
  BACKUP_FORMAT,
  type BackupMember,
  DIGEST_MEMBER,
  FORMAT_MEMBER,
  isBackupMember,
  MANIFEST_MEMBER,
  type Manifest,
  parseManifest,
  sha256,
} from './manifest.ts'
import { TarFormatError } from './tar.ts'
import { CutFileError, TarReader } from './tar-reader.ts'

/** The file is not a complete, unchanged backup of a version that this one supports; the message is for people. */
export class BackupFileError extends Error {
  override readonly name = 'BackupFileError'
  readonly code = 'backup_file'
}

/** Maximum size of the manifest or its digest; ours are smaller. A manifest has some 120 bytes for each member. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024

/**
 * Reads a whole backup and compares every byte with the manifest and the format.
 *
 * @throws BackupFileError if it is truncated, changed, not a backup, or of a later version.
 */
export function verifyBackup(path: string): Promise<Manifest> {
  return withBackup(path, async (reader) => {
    const found: BackupMember[] = []
    const texts = new Map<string, Buffer>()
    for (let header = reader.first; header !== undefined; header = await reader.next()) {
      const { name, sizeBytes } = header
      const hash = createHash('sha256')
      const isText = name === MANIFEST_MEMBER || name === DIGEST_MEMBER
      if (isText && sizeBytes > MAX_TEXT_BYTES) throw changed(path, `${name} is too large`)
      const chunks: Buffer[] = []
      for await (const chunk of reader.content()) {
        hash.update(chunk)
        if (isText) chunks.push(Buffer.from(chunk))
      }
      if (isText) texts.set(name, Buffer.concat(chunks))
      else found.push({ name, sizeBytes, sha256: hash.digest('hex') })
    }
    await reader.expectEnd()
    return judge(path, found, texts)
  })
}

/**
 * Writes the content of a backup into a folder, synced; compares it with the manifest again.
 *
 * @param manifest the result of `verifyBackup`.
 * @param isWanted selects members; default: all.
 * @throws BackupFileError if the file has changed meanwhile.
 */
export function extractBackup(
  path: string,
  manifest: Manifest,
  folder: string,
  isWanted: (name: string) => boolean = isBackupMember,
): Promise<void> {
  const hashes = new Map(manifest.members.map((member) => [member.name, member.sha256]))
  return withBackup(path, async (reader) => {
    for (let header = reader.first; header !== undefined; header = await reader.next()) {
      if (!isBackupMember(header.name) || !isWanted(header.name)) continue
      const target = join(folder, header.name)
      await mkdir(dirname(target), { recursive: true, mode: 0o700 })
      const hash = createHash('sha256')
      await using file = await open(target, 'wx', 0o600)
      for await (const chunk of reader.content()) {
        hash.update(chunk)
        await file.writeFile(chunk)
      }
      await file.sync()
      if (hash.digest('hex') !== hashes.get(header.name)) throw changed(path, `${header.name} has changed`)
    }
  })
}

async function withBackup<T>(path: string, work: (reader: TarReader) => Promise<T>): Promise<T> {
  await using file = await openFile(path)
  try {
    const reader = await TarReader.open(file)
    await judgeFormat(path, reader)
    return await work(reader)
  } catch (error) {
    if (error instanceof CutFileError) throw new BackupFileError(`${path} is truncated`)
    if (error instanceof TarFormatError) throw changed(path, error.message)
    throw error
  }
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    if ((await stat(path)).isDirectory()) throw new Error('it is a folder')
    return await open(path, 'r')
  } catch (error) {
    throw new BackupFileError(`${path} cannot be read: ${(error as Error).message}`, { cause: error })
  }
}

/** Reads only the first member: if this is not a known backup, the rest may be anything. */
async function judgeFormat(path: string, reader: TarReader): Promise<void> {
  if (reader.first?.name !== FORMAT_MEMBER || reader.first.sizeBytes > 100) {
    throw new BackupFileError(`${path} is not a backup of Millrace`)
  }
  const format = Number((await reader.peekContent()).toString('latin1'))
  if (!Number.isInteger(format)) throw changed(path, `${FORMAT_MEMBER} does not hold a number`)
  if (format > BACKUP_FORMAT) throw newer(path, `backup format ${format}, this version supports ${BACKUP_FORMAT}`)
}

function judge(path: string, found: readonly BackupMember[], texts: ReadonlyMap<string, Buffer>): Manifest {
  const manifestText = texts.get(MANIFEST_MEMBER)
  if (manifestText === undefined) throw new BackupFileError(`${path} is truncated: it has no manifest`)
  if (texts.get(DIGEST_MEMBER)?.toString('latin1') !== `${sha256(manifestText)}\n`) {
    throw changed(path, 'its manifest has changed')
  }
  const manifest = parseManifest(manifestText.toString())
  if (manifest === undefined) throw changed(path, 'its manifest cannot be read')
  if (manifest.dataFormat > DATA_FORMAT) {
    throw newer(path, `data format ${manifest.dataFormat}, this version supports ${DATA_FORMAT}`)
  }
  const count = Math.max(found.length, manifest.members.length)
  for (let i = 0; i < count; i++) {
    const [is, was] = [found[i], manifest.members[i]]
    if (is?.name !== was?.name) throw changed(path, `its files do not match its manifest`)
    if (is?.sizeBytes !== was?.sizeBytes || is?.sha256 !== was?.sha256) {
      throw changed(path, `${is?.name} has changed`)
    }
    if (i > 0 && !isBackupMember(is!.name)) throw changed(path, `it contains ${is!.name}`)
  }
  for (const name of ['delivery.db', 'control.db']) {
    if (!found.some((member) => member.name === name)) throw changed(path, `it does not contain ${name}`)
  }
  return manifest
}

function changed(path: string, what: string): BackupFileError {
  return new BackupFileError(`${path} is damaged or was changed: ${what}`)
}

function newer(path: string, what: string): BackupFileError {
  return new BackupFileError(`${path} was made by a newer version of Millrace (${what})`)
}
