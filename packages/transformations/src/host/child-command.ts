import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import path from 'node:path'
import type { Readable, Writable } from 'node:stream'

/** The program and the folder from which it runs: nothing depends on where the server was started. */
const CHILD_PROGRAM = path.join(import.meta.dirname, '../guest/main.ts')

/** A heap of the child's own, beside those of the sandboxes. */
const CHILD_HEAP_MB = 256

/**
 * Starts a child that may read the code that it consists of and nothing else: no other file, no network, no child
 * process, no thread, no environment. Its standard input and output are pipes of frames (frames.ts) rather than
 * Node's own channel for messages: that one believes its other end, whose messages may be of any size and may carry
 * handles.
 *
 * @see contracts/transformations.md §8 [D418]
 */
export function startChild(
  argument: string,
  program = CHILD_PROGRAM,
): ChildProcessByStdio<Writable, Readable, Readable> {
  const permissions = [...readable(), program].map((place) => `--allow-fs-read=${place}`)
  const options = ['--disable-warning=SecurityWarning', `--max-old-space-size=${CHILD_HEAP_MB}`]
  return spawn(process.execPath, ['--permission', '--allow-addons', ...permissions, ...options, program, argument], {
    cwd: import.meta.dirname,
    env: {},
    stdio: ['pipe', 'pipe', 'pipe'],
  })
}

function readable(): string[] {
  const require = createRequire(import.meta.url)
  const isolatedVm = packageFolder(require.resolve('isolated-vm'), 'isolated-vm')
  const fromThere = createRequire(path.join(isolatedVm, 'package.json'))
  return [
    path.dirname(import.meta.dirname),
    path.join(import.meta.dirname, '../../package.json'),
    isolatedVm,
    packageFolder(fromThere.resolve('node-gyp-build'), 'node-gyp-build'),
    packageFolder(require.resolve('amaro'), 'amaro'),
    // The loader of the native part looks for it to tell one libc from the other.
    '/etc/alpine-release',
  ]
}

function packageFolder(file: string, name: string): string {
  const end = file.lastIndexOf(`${path.sep}${name}${path.sep}`)
  return file.slice(0, end + name.length + 1)
}
