import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { BackupFileWriter } from './backup-file-writer.ts'
import { readTarHeader, TarFormatError, tarHeader } from './tar.ts'

const folder = mkdtempSync(join(tmpdir(), 'millrace-tar-'))
afterAll(() => rmSync(folder, { recursive: true }))
const AT = Date.parse('2026-03-04T09:15:30.000Z')

test('the tar of the system lists and extracts what is written, to the byte', () => {
  const sizes = { 'control.db': 0, 'delivery.db': 511, 'inbox.key': 512, 'log/0.db': 3_000_001 }
  const file = join(folder, 'backup.tar')
  {
    using writer = new BackupFileWriter(file, AT)
    for (const [name, size] of Object.entries(sizes)) {
      const source = join(folder, 'source')
      writeFileSync(source, Buffer.alloc(size, name))
      writer.addFile(name, source)
    }
    writer.finish({ dataFormat: 1, version: '0.1.0', createdAt: '2026-03-04T09:15:30.000Z', hasLog: true })
  }
  const names = ['millrace-backup', ...Object.keys(sizes), 'manifest.json', 'manifest.sha256']
  expect(execFileSync('tar', ['-tf', file], { encoding: 'utf8' }).trim().split('\n')).toEqual(names)
  execFileSync('tar', ['-xf', file, '-C', folder])
  for (const [name, size] of Object.entries(sizes)) {
    expect(readFileSync(join(folder, name)).equals(Buffer.alloc(size, name)), name).toBe(true)
    expect(statSync(join(folder, name))).toMatchObject({ mode: 0o100600, mtimeMs: AT })
  }
  const { members } = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))
  expect(members).toEqual(
    names.slice(0, -2).map((name) => {
      const bytes = readFileSync(join(folder, name))
      return { name, sizeBytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }
    }),
  )
})

test('a member of 8 GiB and more has the size that the tar of the system reads', () => {
  const file = join(folder, 'large.tar')
  for (const sizeBytes of [8 ** 11 - 1, 8 ** 11, 3 * 2 ** 40]) {
    const header = tarHeader({ name: 'delivery.db', sizeBytes, modifiedAt: 0 })
    expect(readTarHeader(header)).toEqual({ name: 'delivery.db', sizeBytes, modifiedAt: 0 })
    writeFileSync(file, header)
    // The header is all that there is, so listing ends with a complaint about the rest.
    const listed = execFileSync('sh', ['-c', 'tar -tvf "$0" 2>/dev/null || true', file], { encoding: 'utf8' })
    expect(listed).toContain(` ${sizeBytes} `)
  }
})

test('a header with any bit turned is none', () => {
  const header = tarHeader({ name: 'log/184467.db', sizeBytes: 268_435_456, modifiedAt: AT / 1000 })
  for (let bit = 0; bit < header.length * 8; bit++) {
    const turned = Buffer.from(header)
    turned[bit >> 3]! ^= 1 << (bit & 7)
    expect(() => readTarHeader(turned), `bit ${bit}`).toThrow(TarFormatError)
  }
  expect(readTarHeader(Buffer.alloc(512))).toBeUndefined()
})
