import { readFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { type BuildOptions, build } from 'esbuild'

/* npm run sdk:build: bundles sdks/cordova/src into www/ and esm/, and fails when the bundle has grown past its budget. */

/**
 * Of www/service-client.js and www/browser-proxy.js together: they may not grow. The contract's budget of 16,384 is not reached
 * yet (contracts/cordova-sdk.md §23; sdks/cordova/README.md says it too).
 */
const BUDGET_BYTES = 17_200

/**
 * Names of members that the bundle may shorten: those of our own parts, which no app, engine, page or stored text knows. A new
 * one need not be here; one that a boundary knows must not be.
 */
const OWN_NAMES = [
  'addAfterLeading',
  'adopt',
  'advertising',
  'countAs',
  'discardEvents',
  'discardIdentifiers',
  'emits',
  'facts',
  'forget',
  'forgetToken',
  'guardStorage',
  'hasFactories',
  'heard',
  'isAdjusted',
  'isCold',
  'isForeground',
  'isNativeMissing',
  'isOwn',
  'isUnderWay',
  'isWanted',
  'keepNewest',
  'keepaliveLeft',
  'kind',
  'learn',
  'longest',
  'monotonic',
  'note',
  'onAnswer',
  'onDeviceReady',
  'onTold',
  'openStore',
  'post',
  'randomBytes',
  'recount',
  'refill',
  'removeOldest',
  'renew',
  'renews',
  'stopped',
  'tabs',
  'takeAll',
  'takeLeading',
  'tell',
  'violated',
  'wantsTail',
  'watchRoutes',
  'why',
  'whyNoAnswer',
]

const folder = path.join(import.meta.dirname, '../sdks/cordova')
const boundaries = ['types/index.d.ts', 'src/core/bridge.ts', 'src/entries/instance.ts', 'src/core/session.ts']
for (const file of boundaries) {
  // As a member: in prose the words are free.
  const members = new Set(readFileSync(path.join(folder, file), 'utf8').match(/\w+(?=\??[:(])/g))
  const known = OWN_NAMES.filter((name) => members.has(name))
  if (known.length > 0) throw new Error(`${file} knows ${known.join(', ')}: no name for the bundle to shorten`)
}

const options: BuildOptions = {
  absWorkingDir: folder,
  bundle: true,
  minify: true,
  target: 'es2017',
  external: ['cordova/*'],
  // `module` and `require` are those that Cordova wraps around the file.
  logOverride: { 'commonjs-variable-in-esm': 'silent' },
  logLevel: 'warning',
  mangleProps: new RegExp(`^(${OWN_NAMES.join('|')})$`),
  tsconfigRaw: { compilerOptions: { useDefineForClassFields: false } },
}

await build({ ...options, entryPoints: ['src/entries/cordova.ts'], outfile: 'www/service-client.js', format: 'cjs' })
await build({
  ...options,
  entryPoints: ['src/entries/browser-proxy.ts'],
  outfile: 'www/browser-proxy.js',
  format: 'cjs',
})
await build({ ...options, entryPoints: ['src/entries/module.ts'], outfile: 'esm/index.js', format: 'esm' })

const size = gzipSync(
  Buffer.concat(['www/service-client.js', 'www/browser-proxy.js'].map((file) => readFileSync(path.join(folder, file)))),
  { level: 9 },
).length
console.log(`www: ${size} of ${BUDGET_BYTES} bytes, gzip level 9`)
if (size > BUDGET_BYTES) {
  console.error(`The bundle is ${size - BUDGET_BYTES} bytes over its budget.`)
  process.exitCode = 1
}
