import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parse, parseAllDocuments } from 'yaml'

const ROOT = path.dirname(path.dirname(import.meta.dirname))
export const MANIFESTS = path.join(ROOT, 'deploy/cluster')

export function textOf(file: string): string {
  return readFileSync(path.join(ROOT, file), 'utf8')
}

/** A process of Millrace, as a file of deploy/ or compose.yaml starts it. */
export interface DeployedProcess {
  readonly name: string
  /** Its arguments. */
  readonly args: readonly string[]
  /** Undefined: the command has no roles. */
  readonly roles: string | undefined
  /** Undefined: the autoscaler decides. */
  readonly replicas: number | undefined
  /** Between SIGTERM and SIGKILL. */
  readonly graceSeconds: number | undefined
}

// biome-ignore lint/suspicious/noExplicitAny: the schemas are checked by schemas.external.test.ts
export type Parsed = any

export function compose(): Parsed {
  return parse(textOf('compose.yaml'), { merge: true })
}

/** Every resource of deploy/cluster. */
export function manifests(): Parsed[] {
  const files = readdirSync(MANIFESTS).filter((name) => name.endsWith('.yaml'))
  return files.flatMap((name) =>
    parseAllDocuments(readFileSync(path.join(MANIFESTS, name), 'utf8')).map((d) => d.toJS()),
  )
}

export function ofKind(kind: string): Parsed[] {
  return manifests().filter((each) => each.kind === kind)
}

/** The processes of compose.yaml whose image is ours. */
export function composeProcesses(): DeployedProcess[] {
  const services = Object.entries<Parsed>(compose().services).filter(([, service]) => service.image === 'millrace')
  return services.map(([name, { command, deploy, stop_grace_period: grace }]) => ({
    ...{ name, args: command, roles: rolesOf(command), replicas: deploy?.replicas ?? 1 },
    graceSeconds: Number.parseInt(grace, 10),
  }))
}

/** The Deployments and the Job. */
export function podTemplates(): { readonly resource: Parsed; readonly pod: Parsed; readonly container: Parsed }[] {
  return [...ofKind('Deployment'), ...ofKind('Job')].map((resource) => {
    const pod = resource.spec.template.spec
    return { resource, pod, container: pod.containers[0] }
  })
}

export function manifestProcesses(): DeployedProcess[] {
  return podTemplates().map(({ resource, pod, container }) => ({
    ...{ name: resource.metadata.name, args: container.args, roles: rolesOf(container.args) },
    replicas: resource.spec.replicas,
    graceSeconds: pod.terminationGracePeriodSeconds,
  }))
}

function rolesOf(args: readonly string[]): string | undefined {
  const at = args.indexOf('--roles')
  return at === -1 ? undefined : args[at + 1]
}
