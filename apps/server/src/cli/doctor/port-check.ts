import { createServer } from 'node:net'
import { parseRoles } from '../../config/roles.ts'
import { type Settings, urlOfServer } from '../../config/settings.ts'
import { oneLine } from '../paint.ts'
import { type Finding, fail, ok } from './finding.ts'

const ANSWER_MS = 5_000

export interface ExaminedPort {
  readonly finding: Finding
  /** Whether a Millrace listens there. `doctor` sends the token of this machine to no other program. */
  readonly isMillrace: boolean
}

/** Whether the port is free or used by a Millrace, and the health of that Millrace. */
export async function checkPort({ host, port }: Pick<Settings, 'host' | 'port'>): Promise<ExaminedPort> {
  const of = (finding: Finding, isMillrace = false) => ({ finding, isMillrace })
  if (port === 0) return of(ok('port', 'any free one'))
  const place = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
  const obstacle = await obstacleToListening(host, port)
  if (obstacle === undefined) return of(ok('port', `${place} is free: no server listens there`))
  if (obstacle !== 'EADDRINUSE') {
    const advice = ADVICE[obstacle] ?? 'MILLRACE_HOST'
    return of(fail('port', `${place} cannot be listened on (${obstacle}): see ${advice}`))
  }
  const health = await healthAt(host, port)
  if (health === 'silent') {
    return of(
      fail(
        'port',
        `${place} is in use, and /health does not answer: if this is Millrace, see its log; it hangs or is overloaded`,
      ),
    )
  }
  if (health === undefined) {
    return of(fail('port', `${place} is in use by another program: stop it, or set MILLRACE_PORT`))
  }
  const troubles = Object.entries(health.checks ?? {}).filter(([, state]) => state !== 'ok')
  if (health.status === 200 && troubles.length === 0) {
    return of(ok('port', `${place} the server runs and is healthy`), true)
  }
  const said = troubles.map(([name, state]) => `${name}: ${state}`).join(', ')
  const text = oneLine(`${place} the server runs, but is unhealthy: ${said}`, 500)
  return of({ verdict: health.status === 200 ? 'warn' : 'fail', what: 'port', text }, true)
}

const ADVICE: Record<string, string> = { EACCES: 'MILLRACE_PORT; ports below 1024 need an administrator' }

/** Listens for a moment: the only reliable test. */
function obstacleToListening(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
}

async function healthAt(host: string, port: number) {
  try {
    const response = await fetch(`${urlOfServer({ host, port })}/health`, {
      signal: AbortSignal.timeout(ANSWER_MS),
      redirect: 'manual',
    })
    const body = (await response.json()) as { appType?: string; checks?: Record<string, string> }
    return isMillrace(body.appType) ? { status: response.status, checks: body.checks } : undefined
  } catch (error) {
    return (error as Error).name === 'TimeoutError' ? 'silent' : undefined
  }
}

/** An embedded server, or the roles of a process of a cluster. */
function isMillrace(appType: string | undefined): boolean {
  return appType === 'EMBEDDED' || (appType !== undefined && parseRoles(appType.replaceAll('+', ',')) !== undefined)
}
