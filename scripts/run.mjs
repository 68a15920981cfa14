// node scripts/run.mjs <file> [arguments]: installs if need be, then runs the file on the pinned Node.

import { spawn } from 'node:child_process'
import path from 'node:path'
import { ensureInstalled, findNode, root } from './install.mjs'

try {
  const [file, ...fileArguments] = process.argv.slice(2)
  if (!file) throw new Error('usage: node scripts/run.mjs <file> [arguments]')
  ensureInstalled()
  run(findNode(), file, fileArguments)
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}

function run(node, file, fileArguments) {
  const env = {
    // Most of a start is reading TypeScript: what was read once is kept.
    NODE_COMPILE_CACHE: path.join(root, 'node_modules/.cache/code'),
    ...process.env,
    PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH}`,
  }
  const nodeArguments = [path.resolve(root, file), ...fileArguments]
  // Where Node can, this process becomes the program: signals and the exit code need nobody in between.
  if (process.execve && process.platform !== 'win32') process.execve(node, [node, ...nodeArguments], env)

  const child = spawn(node, nodeArguments, { env, stdio: 'inherit' })
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => {
    throw error
  })
  child.on('exit', (code, signal) => {
    for (const name of signals) process.removeAllListeners(name)
    if (signal) process.kill(process.pid, signal)
    else process.exitCode = code
  })
}
