import { createRequire, syncBuiltinESMExports } from 'node:module'
import path from 'node:path'
import process from 'node:process'

const require = createRequire(import.meta.url)

type Functions = Record<string, unknown>

/** Refuses a call into what is closed. */
export class ClosedError extends Error {
  override readonly name = 'ClosedError'
  readonly code: 'NETWORK_CLOSED' | 'PROCESSES_CLOSED' | 'FILES_CLOSED'

  constructor(code: ClosedError['code'], what: string) {
    super(`${what} is closed to destinations of the catalog`)
    this.code = code
  }
}

/** Functions of `node:fs` that only read. */
const READS =
  /^(readFile|stat|lstat|statfs|realpath|readdir|opendir|access|exists|readlink|createReadStream|open)(Sync)?$/
/** They work on what is open already, or open nothing. */
const HARMLESS_FILES = /^(close|read|readv|fstat|fsync|fdatasync|watchFile|unwatchFile|_toUnixTimestamp)(Sync)?$/

/**
 * Takes network, processes, native code, files and the environment away from everything that is loaded afterwards. It keeps mistakes and
 * opportunism in; against hostile code the boundary is the permission model of a process.
 *
 * @param packagesFolder the only folder that may be read.
 * @param onBlocked called with each attempt.
 * @see contracts/destination-catalog.md §4.2 [C15]
 */
export function closeEverything(packagesFolder: string, onBlocked: (what: string) => void): void {
  const closed: Closed = (code, what) =>
    function closed(): never {
      onBlocked(what)
      throw new ClosedError(code, what)
    }
  const close: Close = (code, module, holder, names) => {
    for (const name of names) if (typeof holder[name] === 'function') holder[name] = closed(code, `${module}.${name}`)
  }
  // Tells Node where compiled code is kept, which it has read.
  delete process.env['NODE_COMPILE_CACHE']
  closeNetwork(close, closed)
  closeProcesses(close)
  closeFiles(path.resolve(packagesFolder), closed)
  syncBuiltinESMExports()
}

/** What a closed function is replaced with. */
type Closed = (code: ClosedError['code'], what: string) => () => never
type Close = (code: ClosedError['code'], module: string, holder: Functions, names: Iterable<string>) => void

function closeNetwork(close: Close, closed: Closed): void {
  const network = (module: string, names: Iterable<string>, holder = builtin(module)) =>
    close('NETWORK_CLOSED', module, holder, names)
  const net = builtin('net') as Record<string, { prototype: Functions }>
  const dgram = builtin('dgram') as Record<string, { prototype: Functions }>
  network('net.Socket', ['connect'], net['Socket']!.prototype)
  network('net.Server', ['listen'], net['Server']!.prototype)
  network('dgram.Socket', ['bind', 'connect', 'send'], dgram['Socket']!.prototype)
  network('net', ['connect', 'createConnection', 'createServer'])
  network('tls', ['connect', 'createServer'])
  network('dgram', ['createSocket'])
  network('http', ['request', 'get', 'createServer'])
  network('https', ['request', 'get', 'createServer'])
  network('http2', ['connect', 'createServer', 'createSecureServer'])
  const dns = builtin('dns')
  network('dns', Object.keys(dns), dns)
  const promises = builtin('dns/promises')
  network('dns.promises', Object.keys(promises), promises)
  // Not read first: reading one loads all of them, which takes as long as the rest of this function.
  const globals = globalThis as unknown as Functions
  for (const name of ['fetch', 'WebSocket', 'EventSource'])
    globals[name] = closed('NETWORK_CLOSED', `globalThis.${name}`)
}

function closeProcesses(close: Close): void {
  const processes = (module: string, names: Iterable<string>, holder = builtin(module)) =>
    close('PROCESSES_CLOSED', module, holder, names)
  const childProcess = builtin('child_process')
  processes('child_process', Object.keys(childProcess), childProcess)
  const cluster = builtin('cluster')
  processes('cluster', ['fork', 'setupPrimary', 'setupMaster', 'disconnect'], cluster)
  processes('worker_threads', ['Worker'])
  processes('inspector', ['open', 'Session'])
  processes('vm', ['Script', 'runInContext', 'runInNewContext', 'runInThisContext', 'compileFunction'])
  processes('process', ['dlopen', 'binding', '_linkedBinding', 'kill', 'exit', 'reallyExit', 'abort'], process as never)
}

function closeFiles(packagesFolder: string, closed: Closed): void {
  const fs = builtin('fs')
  const module = builtin('module')
  for (const name of ['enableCompileCache', 'flushCompileCache'])
    module[name] = closed('FILES_CLOSED', `module.${name}`)
  for (const [module, holder] of [
    ['fs', fs],
    ['fs.promises', fs['promises'] as Functions],
  ] as const) {
    for (const name of Object.keys(holder)) {
      const original = holder[name]
      // Classes are constructed by the functions that are judged here.
      if (typeof original !== 'function' || /^[A-Z]/.test(name) || HARMLESS_FILES.test(name)) continue
      const refuse = closed('FILES_CLOSED', `${module}.${name}`)
      holder[name] = READS.test(name) ? reading(original as never, name, packagesFolder, refuse) : refuse
    }
  }
}

/** The function for files of the packages; the loader of CommonJS modules calls it, too. */
function reading(
  original: (...given: unknown[]) => unknown,
  name: string,
  packagesFolder: string,
  refuse: (...given: unknown[]) => never,
) {
  const judged = (...given: unknown[]): unknown => {
    const [file, flags] = given
    const mayWrite = name.startsWith('open') && name !== 'opendir' && ![undefined, 'r', 0].includes(flags as never)
    if (mayWrite || !isInPackages(file, packagesFolder)) return refuse()
    return original(...given)
  }
  return Object.assign(judged, original)
}

function isInPackages(file: unknown, packagesFolder: string): boolean {
  // A descriptor was opened here.
  if (typeof file === 'number') return true
  const given = file instanceof URL ? file.pathname : file
  if (typeof given !== 'string') return false
  const whole = path.resolve(given)
  if (whole === packagesFolder) return true
  if (!whole.startsWith(packagesFolder + path.sep)) return false
  const [first] = whole.slice(packagesFolder.length + 1).split(path.sep, 1)
  // Our own workspaces are linked there, and lie outside.
  return first !== '@millrace' && !first!.startsWith('.')
}

function builtin(name: string): Functions {
  return require(`node:${name}`) as Functions
}
