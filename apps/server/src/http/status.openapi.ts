import { closed, named, oneOf, type RouteDescription, refusals, Time, Type } from '@millrace/openapi'

const TAG = 'Status'
const upOrDown = oneOf(['UP', 'DOWN'])
const trueOrFalse = oneOf(['TRUE', 'FALSE'])
const check = Type.String({ description: '`ok`, or the problem.' })

const Health = named(
  'Health',
  closed({
    appType: Type.String(),
    server: upOrDown,
    db: upOrDown,
    acceptingEvents: trueOrFalse,
    routingEvents: trueOrFalse,
    mode: Type.String(),
    backendConfigMode: Type.String(),
    lastSync: Time,
    checks: closed({
      ...{ log: check, disk: check, config: check, catalog: check, delivery: check, backlog: check },
      readers: check,
      damage: check,
    }),
  }),
)
const health = {
  appType: 'EMBEDDED',
  server: 'UP',
  db: 'UP',
  acceptingEvents: 'TRUE',
  routingEvents: 'TRUE',
  mode: 'NORMAL',
  backendConfigMode: 'LOCAL',
  lastSync: '2026-03-04T09:15:30.002Z',
  checks: {
    log: 'ok',
    disk: 'ok',
    config: 'ok',
    catalog: 'ok',
    delivery: 'ok',
    backlog: 'ok',
    readers: 'ok',
    damage: 'ok',
  },
}
const broken = {
  ...health,
  db: 'DOWN',
  acceptingEvents: 'FALSE',
  checks: { ...health.checks, disk: 'free space below 512 MB' },
}

const plain = (text: string, example: string) => ({
  text,
  schema: Type.String(),
  mediaType: 'text/plain',
  examples: { text: example },
})

export const HEALTH_IN_WORDS: RouteDescription = {
  tag: TAG,
  summary: 'Whether events can be stored and delivered',
  details: 'A failing destination does not make the server unhealthy.',
  access: 'none',
  answers: {
    200: { text: 'No problems found.', schema: Health, examples: { well: health } },
    503: { text: 'There is a problem; see `checks`.', schema: Health, examples: { broken } },
  },
}

export const ROOT_IN_WORDS: RouteDescription = {
  ...HEALTH_IN_WORDS,
  summary: 'The same as /health',
  details: 'A request for HTML is redirected to the dashboard, unless it is off.',
  answers: { ...HEALTH_IN_WORDS.answers, 302: { text: 'The dashboard is at /ui/.' } },
}

export const READY_IN_WORDS: RouteDescription = {
  tag: TAG,
  summary: 'Whether the server accepts events',
  access: 'none',
  answers: {
    200: { text: 'They are.', schema: closed({ ready: Type.Literal(true) }), examples: { ready: { ready: true } } },
    503: {
      text: 'It does not.',
      schema: closed({
        ready: Type.Literal(false),
        reason: oneOf(['recovering log', 'shutting down', 'ending after a fault']),
      }),
      examples: { stopping: { ready: false, reason: 'shutting down' } },
    },
  },
}

export const VERSION_IN_WORDS: RouteDescription = {
  tag: TAG,
  summary: 'Show the version',
  access: 'none',
  answers: {
    200: {
      text: 'The version and its features.',
      schema: named(
        'Version',
        closed({
          Version: Type.String(),
          Revision: Type.String(),
          BuildDate: Type.String(),
          Features: Type.Array(Type.String()),
        }),
      ),
      examples: { version: { Version: '1.0.0', Revision: 'unknown', BuildDate: 'unknown', Features: [] } },
    },
  },
}

export const METRICS_IN_WORDS: RouteDescription = {
  tag: TAG,
  summary: 'Metrics in the Prometheus text format',
  details:
    'Without authentication while the server listens on loopback only and MILLRACE_METRICS_TOKEN is not set; else with a Bearer token: that one, or ' +
    "an admin's access token.",
  access: 'metrics token',
  answers: {
    200: plain('Text format 0.0.4.', 'millrace_log_bytes 73400320\n'),
    ...refusals({ 401: ['Invalid Authorization Header'] }),
  },
}

export const ROBOTS_IN_WORDS: RouteDescription = {
  tag: TAG,
  summary: 'Keep search engines away',
  access: 'none',
  answers: { 200: plain('Text.', 'User-agent: *\nDisallow: /\n') },
}
