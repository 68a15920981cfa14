import type { AccessToken } from '@millrace/api-types'
import type { Command } from 'commander'
import { type CommandContext, remote, withExample } from './command.ts'
import { CommandError, type CommandIo, usageError } from './command-io.ts'
import { columns, json, oneLine, paintFor, time } from './paint.ts'
import { ServerApi, type ServerOptions } from './server-api.ts'

interface Common extends ServerOptions {
  readonly json?: boolean
}

interface NewToken extends Common {
  readonly role: string
  readonly expires?: string
}

const DAY_MS = 86_400_000
const MAX_DAYS = 36_500

/** `millrace token …`: personal access tokens. */
export function addToken(program: Command, { io }: CommandContext): void {
  const group = program.command('token').description('access tokens of users and programs')
  withExample(remote(group.command('list')), 'token list')
    .description('list your tokens; as an admin, all tokens')
    .action((options: Common) => listTokens(options, io))
  withExample(remote(group.command('create <name>')), 'token create ci --role viewer --expires 90d')
    .description('create a token for yourself; its value is shown only once')
    .option('--role <role>', 'viewer, editor or admin; at most your own', 'viewer')
    .option('--expires <when>', 'a time, or days from now such as 90d (default: never)')
    .action((name: string, options: NewToken) => createToken(name, options, io))
  withExample(remote(group.command('revoke <token>')), 'token revoke ci')
    .description('revoke a token, by its id or name')
    .action((wanted: string, options: Common) => revokeToken(wanted, options, io))
}

async function listTokens(options: Common, io: CommandIo): Promise<void> {
  const api = new ServerApi(options, io)
  if (options.json) {
    io.stdout.write(`${json(await api.get('/v2/access-tokens'))}\n`)
    return
  }
  const tokens = await allTokens(api)
  const [head, ...rows] = columns([
    ['NAME', 'ROLE', 'USER', 'CREATED (UTC)', 'EXPIRES', 'LAST USED', 'ID'],
    ...tokens.map((token) => [
      oneLine(token.name, 40),
      oneLine(token.role),
      oneLine(token.email, 60),
      toTheMinute(token.createdAt),
      token.expiresAt === null ? 'never' : toTheMinute(token.expiresAt),
      token.lastUsedAt === null ? 'never' : toTheMinute(token.lastUsedAt),
      oneLine(token.id),
    ]),
  ])
  io.stdout.write(`${[paintFor(io.stdout, io.env)('bold', head!), ...rows].join('\n')}\n`)
}

async function createToken(name: string, options: NewToken, io: CommandIo): Promise<void> {
  const expiresAt = options.expires === undefined ? undefined : expiry(options.expires, io.clock.now())
  const api = new ServerApi(options, io)
  const written = { name, role: options.role, ...(expiresAt === undefined ? {} : { expiresAt }) }
  const answer = await api.send<{ accessToken: AccessToken; token: string }>('POST', '/v2/access-tokens', written)
  if (options.json) {
    io.stdout.write(`${json(answer)}\n`)
    return
  }
  const { accessToken, token } = answer
  const paint = paintFor(io.stdout, io.env)
  const until = accessToken.expiresAt === null ? 'never expires' : `expires ${toTheMinute(accessToken.expiresAt)} UTC`
  const lines = [
    `${paint('green', 'created')}  ${oneLine(accessToken.name)}, ${oneLine(accessToken.role)}, of ${oneLine(accessToken.email)}, ${until}`,
    `  ${paint('bold', oneLine(token))}`,
    'It is shown only once.',
  ]
  io.stdout.write(`${lines.join('\n')}\n`)
}

async function revokeToken(wanted: string, options: Common, io: CommandIo): Promise<void> {
  const api = new ServerApi(options, io)
  const { id, name } = findToken(await allTokens(api), wanted, api)
  await api.send('DELETE', `/v2/access-tokens/${encodeURIComponent(id)}`)
  // The answer of the route has no body.
  if (options.json) return
  io.stdout.write(`${paintFor(io.stdout, io.env)('green', 'revoked')}  ${oneLine(name)} (${oneLine(id)})\n`)
}

function findToken(tokens: readonly AccessToken[], wanted: string, api: ServerApi): AccessToken {
  const listing = api.commandLine('token', 'list')
  const byId = tokens.find(({ id }) => id === wanted)
  const byName = tokens.filter(({ name }) => name === wanted)
  if (byId === undefined && byName.length > 1) {
    throw new CommandError(`${byName.length} tokens are named "${oneLine(wanted)}".`, `Use its id: ${listing}`)
  }
  const found = byId ?? byName[0]
  if (found === undefined) {
    throw new CommandError(`No token "${oneLine(wanted)}" at ${api.url}.`, `List tokens with: ${listing}`)
  }
  return found
}

function allTokens(api: ServerApi): Promise<AccessToken[]> {
  return api.all('/v2/access-tokens', 'accessTokens')
}

/** Converts a duration such as `90d` into a time; a time is sent unchanged. */
function expiry(when: string, now: number): string {
  const days = /^(\d{1,5})d$/.exec(when)?.[1]
  if (days === undefined && Number.isNaN(Date.parse(when))) {
    throw usageError(`"${oneLine(when)}" is not a time or a number of days such as 90d.`)
  }
  if (days === undefined) return when
  if (Number(days) < 1 || Number(days) > MAX_DAYS) throw usageError(`--expires takes 1d to ${MAX_DAYS}d.`)
  return new Date(now + Number(days) * DAY_MS).toISOString()
}

function toTheMinute(rfc3339: string): string {
  return time(rfc3339).slice(0, 'yyyy-mm-dd hh:mm'.length)
}
