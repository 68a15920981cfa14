import { globSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

/** Writes `<file>.br` and `<file>.gz` beside each text that browsers load, so that the server compresses nothing. */
export function compressFiles(folder: string): void {
  for (const file of globSync('assets/*.{js,css,svg}', { cwd: folder })) {
    const bytes = readFileSync(path.join(folder, file))
    const brotli = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } })
    writeFileSync(path.join(folder, `${file}.br`), brotli)
    writeFileSync(path.join(folder, `${file}.gz`), gzipSync(bytes, { level: 9 }))
  }
}
