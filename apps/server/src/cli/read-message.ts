import { readFile } from 'node:fs/promises'
import { CommandError, type CommandIo } from './command-io.ts'

/** The text of a `--message`. @param file `-` is standard input. */
export async function readMessage(file: string, { stdin }: CommandIo): Promise<string> {
  if (file === '-') {
    const chunks: Buffer[] = []
    for await (const chunk of stdin) chunks.push(Buffer.from(chunk))
    return Buffer.concat(chunks).toString()
  }
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    throw new CommandError(`${file} ${isMissing ? 'does not exist' : `cannot be read: ${(error as Error).message}`}.`)
  }
}
