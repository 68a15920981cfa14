import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { type BuildOptions, build } from 'esbuild'
import { type MinifyOptions, minify } from 'terser'
import { programArguments } from '../apps/dev-env/src/program-arguments.ts'

programArguments({
  usage: `Bundles sdks/cordova/src into www/ and esm/. It fails if the bundle is larger than its budget.

  npm run sdk:build`,
})

/** Of www/service-client.js, all that a page loads (contracts/cordova-sdk.md §23). */
const BUDGET_BYTES = 16_384

/**
 * Names of members that the bundle may shorten: those of our own parts, which no app, engine, page or stored text knows. A new
 * one need not be here; one that a boundary knows must not be.
 */
const OWN_NAMES = [
  'addAfterLeading',
  'adopt',
  'advertising',
  'answerText',
  'after',
  'answered',
  'applied',
  'begin',
  'becomes',
  'begins',
  'bridge',
  'bytes',
  'callOptions',
  'changed',
  'clock',
  'commit',
  'committed',
  'corrected',
  'countAs',
  'discardEvents',
  'discardIdentifiers',
  'emits',
  'ended',
  'entered',
  'facts',
  'failed',
  'firstAt',
  'fault',
  'forget',
  'forgetToken',
  'guardText',
  'header',
  'heard',
  'hold',
  'httpStatus',
  'ids',
  'isAdjusted',
  'isEnabled',
  'isForeground',
  'isNativeMissing',
  'isOwn',
  'isUnderWay',
  'isWanted',
  'keepAtMost',
  'keepaliveLeft',
  'kept',
  'kind',
  'learn',
  'left',
  'load',
  'longest',
  'monotonic',
  'nextId',
  'notRecorded',
  'onAnswer',
  'onDeviceReady',
  'onTold',
  'onFault',
  'openDatabase',
  'origin',
  'page',
  'payload',
  'pause',
  'post',
  'print',
  'pushed',
  'record',
  'recount',
  'refill',
  'rejected',
  'release',
  'ready',
  'remove',
  'removeOldest',
  'removed',
  'renew',
  'renews',
  'rowCount',
  'resume',
  'send',
  'setLevel',
  'stoppedFor',
  'storageFailed',
  'succeeded',
  'tabs',
  'take',
  'takeAll',
  'takeLeading',
  'tell',
  'told',
  'used',
  'violated',
  'visit',
  'wasTried',
  'webBridge',
  'wantsTail',
  'watchRoutes',
  'why',
  'whyNoAnswer',
  'write',
  'written',
]

const folder = path.join(import.meta.dirname, '../sdks/cordova')
const boundaries = ['types/index.d.ts', 'src/core/bridge.ts', 'src/entries/instance.ts', 'src/core/session.ts']
for (const file of boundaries) {
  // As a member: in prose the words are free.
  const members = new Set(readFileSync(path.join(folder, file), 'utf8').match(/\w+(?=\??[:(])/g))
  const known = OWN_NAMES.filter((name) => members.has(name))
  if (known.length > 0) throw new Error(`${file} knows ${known.join(', ')}: no name for the bundle to shorten`)
}
/** Calls of a browser's own objects would be shortened as well. */
const BUILT_IN = ['', [], new Map(), new Set(), new Set().values(), Promise.resolve()].map(Object.getPrototypeOf)
const taken = OWN_NAMES.filter((name) => BUILT_IN.some((prototype) => Object.hasOwn(prototype, name)))
if (taken.length > 0) throw new Error(`Browsers know ${taken.join(', ')}: no name for the bundle to shorten`)

const options: BuildOptions = {
  absWorkingDir: folder,
  bundle: true,
  minify: true,
  target: 'es2019',
  external: ['cordova/*'],
  // `module` and `require` are those that Cordova wraps around the file; a bare import is there for the order of modules.
  logOverride: { 'commonjs-variable-in-esm': 'silent', 'ignored-bare-import': 'silent' },
  logLevel: 'warning',
  mangleProps: new RegExp(`^(${OWN_NAMES.join('|')})$`),
  tsconfigRaw: { compilerOptions: { useDefineForClassFields: false } },
}

await build({ ...options, entryPoints: ['src/entries/cordova.ts'], outfile: 'www/service-client.js', format: 'cjs' })
await build({ ...options, entryPoints: ['src/entries/module.ts'], outfile: 'esm/index.js', format: 'esm' })

/**
 * esbuild gives no inner function a name that one around it has; naming each scope for itself saves a twentieth. Without
 * `unsafe_comps`: a row without an id is neither above nor below another, so no comparison may be turned round.
 */
const SHORTER: MinifyOptions = {
  ecma: 2019,
  toplevel: true,
  compress: { ecma: 2019, passes: 3, pure_getters: true, unsafe_arrows: true },
  format: { ecma: 2019 },
}

const file = path.join(folder, 'www/service-client.js')
writeFileSync(file, (await minify(readFileSync(file, 'utf8'), SHORTER)).code!)

const size = gzipSync(readFileSync(file), { level: 9 }).length
console.log(`www: ${size} of ${BUDGET_BYTES} bytes, gzip level 9`)
if (size > BUDGET_BYTES) {
  console.error(`The bundle is ${size - BUDGET_BYTES} bytes over its budget.`)
  process.exitCode = 1
}
