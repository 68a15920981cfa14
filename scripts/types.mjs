import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { programArguments } from '../apps/dev-env/src/program-arguments.ts'

programArguments({
  usage: `Checks the types of the whole tree, then of the dashboard, which is for browsers, and of the SDK, whose core uses neither Node
nor the DOM. The next run checks only files that changed, and files that depend on them.

  npm run types`,
})
const root = path.dirname(import.meta.dirname)
const compiler = path.join(root, 'node_modules/typescript/bin/tsc')
for (const project of ['.', 'apps/dashboard', 'sdks/cordova', 'sdks/cordova/tsconfig.core.json']) {
  const known = path.join(root, 'node_modules/.cache/types', `${project.replace(/\W+/g, '-')}.tsbuildinfo`)
  const words = ['-p', project, '--incremental', '--tsBuildInfoFile', known]
  const { status } = spawnSync(process.execPath, [compiler, ...words], { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
