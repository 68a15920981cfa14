import { ingestInWords } from '@millrace/gateway'
import { loadSettings, settingsList } from '@millrace/server/settings'
import { describe, expect, test } from 'vitest'
import { compose, composeProcesses, manifestProcesses, ofKind, type Parsed, podTemplates, textOf } from './deployed.ts'

/* compose.yaml and deploy/cluster against the settings, roles and paths of the product. schemas.long.test.ts has their schemas. */

const KNOWN = settingsList({})
const SECRETS = KNOWN.filter(({ kind }) => kind === 'secret').map(({ name }) => name)
const ROLES = [...loadSettings({}).roles]
/** Values for what people fill in. */
const FILLED: Record<string, string> = {
  MILLRACE_SECRET_KEY: '0f'.repeat(32),
  MILLRACE_OWNER_TOKEN: 'token-0123456789-0123456789',
  SERVICE_ADMIN_PASSWORD: 'service-admin-password',
  MILLRACE_METRICS_TOKEN: 'metrics-0123456789',
  MILLRACE_POSTGRES_URL: 'postgres://millrace:p@db:5432/millrace',
  POSTGRES_PASSWORD: 'p',
}

const COMPOSE_ENVIRONMENT: Record<string, string> = Object.fromEntries(
  Object.entries<string>(compose().services.gateway.environment).map(([name, value]) => [name, filled(value)]),
)
const SETTINGS_MAP: Record<string, string> = ofKind('ConfigMap')[0].data
/** The names that the README has people put into the secret. */
const SECRET_NAMES = [...textOf('deploy/cluster/README.md').matchAll(/--from-literal=(\w+)=/g)].map(([, name]) => name!)
const MANIFEST_ENVIRONMENT = {
  ...SETTINGS_MAP,
  ...Object.fromEntries(SECRET_NAMES.map((name) => [name, FILLED[name]!])),
}

describe.each([
  ['compose.yaml', COMPOSE_ENVIRONMENT, composeProcesses()],
  ['deploy/cluster', MANIFEST_ENVIRONMENT, manifestProcesses()],
])('%s', (_, environment, processes) => {
  test('every variable is a setting of the server with a value that it allows', () => {
    const names = KNOWN.filter(({ usedBy }) => usedBy === 'server').map(({ name }) => name)
    expect(Object.keys(environment).filter((name) => !names.includes(name))).toEqual([])
    expect(loadSettings(environment)).toMatchObject({ migrates: false, kafkaBrokers: { length: 3 } })
  })

  test('every role runs, two of each but for the catalog, and one command migrates', () => {
    const byRole = Object.fromEntries(processes.flatMap(({ roles, replicas }) => (roles ? [[roles, replicas]] : [])))
    expect(Object.keys(byRole).sort()).toEqual([...ROLES].sort())
    expect(byRole).toMatchObject({ pipeline: 2, control: 2 })
    const rest = processes.filter(({ roles }) => roles === undefined)
    expect(rest.map(({ args }) => args)).toEqual([['migrate']])
  })

  test('a process has its shutdown and ten seconds more before it is killed', () => {
    const wanted = Number(environment['MILLRACE_SHUTDOWN_SECONDS']) + 10
    const servers = processes.filter(({ roles }) => roles !== undefined)
    expect(servers.map(({ graceSeconds }) => graceSeconds)).toEqual(servers.map(() => wanted))
  })
})

test('Kubernetes sets no variable that reads like a setting', () => {
  const pods = podTemplates()
  expect(pods.length).toBeGreaterThan(4)
  expect(pods.map(({ pod }) => pod.enableServiceLinks)).toEqual(pods.map(() => false))
})

test('the Node that the project pins finds its library in both stages of the image', () => {
  const installing = textOf('Dockerfile')
    .split('\n')
    .filter((line) => line.includes('apt-get install'))
  expect(installing.map((line) => line.includes('libatomic1'))).toEqual([true, true])
})

test('compose: two gateways, three brokers, and every process waits for the migration', () => {
  const { services } = compose()
  expect([services.gateway.deploy.replicas, services.catalog.deploy]).toEqual([2, undefined])
  const brokers = Object.keys(services).filter((name) => name.startsWith('kafka-'))
  expect(COMPOSE_ENVIRONMENT['MILLRACE_KAFKA_BROKERS']).toBe(brokers.map((name) => `${name}:9092`).join(','))
  for (const name of ROLES) {
    expect(services[name].depends_on.migrate).toEqual({ condition: 'service_completed_successfully' })
    expect([services[name].read_only, services[name].cap_drop]).toEqual([true, ['ALL']])
  }
  const given = [...textOf('deploy/compose/example.env').matchAll(/^(\w+)=/gm)].map(([, name]) => name)
  const asked = [...textOf('compose.yaml').matchAll(/\$\{(\w+)/g)].map(([, name]) => name)
  expect(new Set(given)).toEqual(new Set(asked))
})

test('manifests: secrets come by reference, the root is read-only, no process is root', () => {
  expect(Object.keys(SETTINGS_MAP).filter((name) => SECRETS.includes(name))).toEqual([])
  for (const { resource, pod, container } of podTemplates()) {
    expect([resource.metadata.name, container.env]).toEqual([resource.metadata.name, undefined])
    expect(container.envFrom).toEqual([{ configMapRef: { name: 'millrace' } }, { secretRef: { name: 'millrace' } }])
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 10001 })
    // Every folder that the image writes to is a volume.
    const mounts = container.volumeMounts.map(({ mountPath }: Parsed) => mountPath)
    expect(mounts).toEqual(resource.kind === 'Job' ? ['/tmp'] : ['/millrace/data', '/tmp'])
  }
  expect(new Set(podTemplates().map(({ container }) => container.image)).size).toBe(1)
})

test('manifests: liveness asks /version, readiness and start ask /ready, none asks /health; nothing waits before SIGTERM', () => {
  for (const { resource, container } of podTemplates()) {
    if (resource.kind === 'Job') continue
    const { startupProbe, readinessProbe, livenessProbe, lifecycle } = container
    expect([startupProbe, readinessProbe, livenessProbe].map(({ httpGet }) => httpGet.path)).toEqual([
      ...['/ready', '/ready', '/version'],
    ])
    expect(lifecycle).toBeUndefined()
  }
})

test('manifests: each role has a disruption budget, services and the autoscaler name what is there', () => {
  const deployments = ofKind('Deployment')
  const labels = new Map(deployments.map((each) => [each.metadata.name, each.spec.template.metadata.labels]))
  for (const each of deployments) expect(each.spec.selector.matchLabels).toEqual(labels.get(each.metadata.name))
  const budgets = ofKind('PodDisruptionBudget')
  expect(budgets.map(({ metadata }) => metadata.name).sort()).toEqual([...labels.keys()].sort())
  for (const { metadata, spec } of budgets) expect(spec.selector.matchLabels).toEqual(labels.get(metadata.name))
  const services = ofKind('Service')
  for (const { metadata, spec } of services) expect(spec.selector).toEqual(labels.get(metadata.name))
  const [scaler] = ofKind('HorizontalPodAutoscaler')
  expect(scaler.spec.scaleTargetRef.name).toBe('millrace-gateway')
  const names = services.map(({ metadata }) => metadata.name)
  for (const { backend } of ingressPaths()) expect(names).toContain(backend.service.name)
})

test('the paths of clients go to gateways, all others to control processes', () => {
  const contract = /^A load balancer sends (.*) to gateways/m.exec(textOf('docs/contracts/cluster.md'))![1]!
  const prefixes = [...contract.matchAll(/`([^`]+)`/g)].map(([, prefix]) => prefix!)
  const caddy = /@clients path (.*)/.exec(textOf('deploy/compose/Caddyfile'))![1]!.split(' ')
  expect(caddy).toEqual(prefixes)
  const paths = ingressPaths()
  const toGateway = paths.filter(({ backend }) => backend.service.name === 'millrace-gateway')
  expect(toGateway.map(({ path }) => path)).toEqual(prefixes.map((prefix) => prefix.replace(/\/\*$/, '')))
  const rest = paths.filter((each) => !toGateway.includes(each))
  expect(rest.map(({ path, backend }) => [path, backend.service.name])).toEqual([['/', 'millrace-control']])
  const lost = ingestInWords().filter(
    ({ path }) => !prefixes.some((prefix) => path.startsWith(prefix.replace(/\*$/, ''))),
  )
  expect(lost.map(({ path }) => path)).toEqual([])
})

function ingressPaths(): Parsed[] {
  return ofKind('Ingress')[0].spec.rules[0].http.paths
}

/** `${NAME:?why}` and `${NAME:-default}`, as docker compose fills them in. */
function filled(value: string): string {
  return value.replace(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, name: string, kind: string, text: string) => {
    return FILLED[name] ?? (kind === '-' ? text : '')
  })
}
