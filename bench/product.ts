import path from 'node:path'
import { Program } from './programs.ts'

const OWNER_TOKEN = 'owner-token-of-the-benchmarks'
const CALL_TIMEOUT_MS = 10_000

export interface ProductOptions {
  /** Folder for the CPU profiles of all threads, written when it stops. */
  readonly profileTo?: string | undefined
  /** Makes in the data folder what the product is to find there. */
  readonly prepare?: (dataFolder: string) => void
}

/** The real server as an operator starts it, everything on, with an empty data folder. */
export function startProduct({ profileTo, prepare = () => {} }: ProductOptions = {}): Promise<Program> {
  const root = path.dirname(import.meta.dirname)
  const profiling = profileTo === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileTo}`]
  return Program.start({
    prepare: (folder) => prepare(path.join(folder, 'data')),
    command: () => [...profiling, path.join(root, 'apps/server/src/main.ts'), 'start'],
    env: (folder) => ({
      MILLRACE_DATA_DIR: path.join(folder, 'data'),
      MILLRACE_PORT: '0',
      MILLRACE_QUICKSTART: 'off',
      MILLRACE_DASHBOARD: 'off',
      MILLRACE_OWNER_TOKEN: OWNER_TOKEN,
      MILLRACE_TEST_API_RPM: '0',
    }),
  })
}

/** Makes a source with a webhook connected to it for each URL. @returns its write key. */
export async function addSource(product: Program, ...webhookUrls: readonly string[]): Promise<string> {
  const destinationIds: string[] = []
  for (const webhookUrl of webhookUrls) destinationIds.push(await addWebhook(product, webhookUrl))
  return addSourceOf(product, destinationIds)
}

/** Makes a source that is connected to destinations. @returns its write key. */
export async function addSourceOf(product: Program, destinationIds: readonly string[]): Promise<string> {
  const { source } = await post(product, 'sources', { name: 'Load', type: 'HTTP' })
  for (const destinationId of destinationIds) {
    await post(product, 'connections', { sourceId: source!.id, destinationId })
  }
  return source!.writeKey!
}

/** Makes a webhook with a transformation. @returns its id. */
export async function addDestination(product: Program, webhookUrl: string, code: string): Promise<string> {
  const { transformation } = await post(product, 'transformations?publish=true', { name: 'Edit', code })
  return addWebhook(product, webhookUrl, [transformation!.id])
}

async function addWebhook(
  product: Program,
  webhookUrl: string,
  transformationIds: readonly string[] = [],
): Promise<string> {
  const config = { webhookUrl }
  const { destination } = await post(product, 'destinations', {
    ...{ name: 'Sink', type: 'WEBHOOK', config, transformationIds },
  })
  return destination!.id
}

/** Runs a message through all three stages. @throws Error unless it was delivered. */
export async function testDestination(product: Program, id: string, message: object): Promise<void> {
  const response = await fetch(`${product.url}/v0/testDestination/${id}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${OWNER_TOKEN}` },
    body: JSON.stringify({
      stage: { user_transform: true, dest_transform: true, send_to_destination: true },
      message,
    }),
    signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
  })
  const text = await response.text()
  if (!text.includes('"destination_response_status":[200]')) throw new Error(`${response.status} ${text}`)
}

/** Events that the product says it has accepted. */
export async function acceptedEvents(product: Program): Promise<number> {
  const response = await fetch(`${product.url}/metrics`, { signal: AbortSignal.timeout(CALL_TIMEOUT_MS) })
  const counts = (await response.text()).matchAll(/^millrace_ingest_events_total\{.*\} (\d+)$/gm)
  return [...counts].reduce((total, [, count]) => total + Number(count), 0)
}

/** Age of the oldest event that the schema catalog has not counted yet. */
export async function catalogLagSeconds(product: Program): Promise<number> {
  const response = await fetch(`${product.url}/metrics`, { signal: AbortSignal.timeout(CALL_TIMEOUT_MS) })
  return Number(/^millrace_schema_lag_seconds (\S+)$/m.exec(await response.text())![1])
}

/** Resolves once /ready says 200. */
export async function becomesReady(product: Program): Promise<void> {
  const signal = AbortSignal.timeout(CALL_TIMEOUT_MS)
  while (!(await fetch(`${product.url}/ready`, { signal })).ok);
}

type Made = Readonly<Record<string, { readonly id: string; readonly writeKey?: string }>>

async function post(product: Program, kind: string, body: object): Promise<Made> {
  const response = await fetch(`${product.url}/v2/${kind}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${OWNER_TOKEN}` },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
  })
  if (!response.ok) throw new Error(`POST /v2/${kind}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Made
}
