// npm run types: the whole tree, then the dashboard, which is for browsers, and the SDK, whose core has to do without both.
// What the compiler learned of each is kept, and the next run checks the files that changed and those that depend on them.

import { spawnSync } from 'node:child_process'
import path from 'node:path'

const root = path.dirname(import.meta.dirname)
const compiler = path.join(root, 'node_modules/typescript/bin/tsc')
for (const project of ['.', 'apps/dashboard', 'sdks/cordova', 'sdks/cordova/tsconfig.core.json']) {
  const known = path.join(root, 'node_modules/.cache/types', `${project.replace(/\W+/g, '-')}.tsbuildinfo`)
  const words = ['-p', project, '--incremental', '--tsBuildInfoFile', known]
  const { status } = spawnSync(process.execPath, [compiler, ...words], { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
