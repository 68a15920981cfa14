import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Ground } from '@millrace/dev-env/seed'
import { Program } from './programs.ts'

export const OWNER_EMAIL = 'owner@localhost'
export const OWNER_TOKEN = 'owner-token-of-the-benchmarks'
const CALL_TIMEOUT_MS = 10_000
const LOOK_AGAIN_MS = 50
const CATCH_UP_TIMEOUT_MS = 1_800_000

/** User code that has something to do with each event. */
export const EDITS_EVERY_EVENT = `export function transformEvent(event) {
  event.properties.edited = event.messageId.length
  return event
}`

let measuredCheckout = path.dirname(import.meta.dirname)

/** From now on, the product of another checkout is measured. */
export function measureProductOf(checkout: string): void {
  measuredCheckout = checkout
}

export interface ProductOptions {
  /** Folder for the CPU profiles of all threads, written when it stops. */
  readonly profileTo?: string | undefined
  /** Makes in the data folder what the product is to find there. */
  readonly prepare?: (dataFolder: string) => void
  /** One that stays when the product has ended; else it has an empty one of its own. */
  readonly dataFolder?: string
  readonly startTimeoutMs?: number
  readonly environment?: Readonly<Record<string, string>>
  /** Folder of the checkout whose product it is; the measured one unless given. */
  readonly checkout?: string | undefined
  /** As of a program. */
  readonly through?: readonly string[] | undefined
}

/** The real server as an operator starts it, everything on but the dashboard, which most rows have no use for. */
export function startProduct(options: ProductOptions = {}): Promise<Program> {
  const { profileTo, prepare = () => {}, startTimeoutMs, environment, through } = options
  const dataFolderIn = (folder: string) => options.dataFolder ?? path.join(folder, 'data')
  const root = options.checkout ?? measuredCheckout
  const profiling = profileTo === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileTo}`]
  return Program.start({
    startTimeoutMs,
    through,
    prepare: (folder) => prepare(dataFolderIn(folder)),
    command: () => [...profiling, path.join(root, 'apps/server/src/main.ts'), 'start'],
    env: (folder) => ({
      MILLRACE_DATA_DIR: dataFolderIn(folder),
      MILLRACE_PORT: '0',
      MILLRACE_QUICKSTART: 'off',
      MILLRACE_DASHBOARD: 'off',
      MILLRACE_OWNER_TOKEN: OWNER_TOKEN,
      MILLRACE_TEST_API_RPM: '0',
      MILLRACE_API_RPM: '0',
      ...environment,
    }),
  })
}

/** Makes a source with a webhook connected to it for each URL. @returns its write key. */
export async function addSource(product: Program, ...webhookUrls: readonly string[]): Promise<string> {
  const destinationIds: string[] = []
  for (const webhookUrl of webhookUrls) destinationIds.push(await addDestination(product, webhookUrl))
  return addSourceOf(product, destinationIds)
}

/** Makes a source that is connected to destinations. @returns its write key. */
export async function addSourceOf(
  product: Program,
  destinationIds: readonly string[],
  config: object = {},
): Promise<string> {
  const { source } = await post(product, 'sources', { name: 'Load', type: 'HTTP', config })
  for (const destinationId of destinationIds) await connect(product, source!.id, destinationId)
  return source!.writeKey!
}

/** Makes a source with a dedup window that nothing is connected to. @returns its write key. */
export async function addSourceWithWindow(product: Program, dedupWindowSeconds: number): Promise<string> {
  const { source } = await post(product, 'sources', { name: 'Load', type: 'HTTP', config: { dedupWindowSeconds } })
  return source!.writeKey!
}

/** Makes a source that nothing is connected to. @returns its id. */
export async function addUnconnectedSource(product: Program): Promise<string> {
  const { source } = await post(product, 'sources', { name: 'Load', type: 'HTTP' })
  return source!.id
}

/** Makes a webhook connected to a source. */
export async function addWebhookOf(product: Program, sourceId: string, webhookUrl: string): Promise<void> {
  await connect(product, sourceId, await addDestination(product, webhookUrl))
}

async function connect(product: Program, sourceId: string, destinationId: string): Promise<void> {
  await post(product, 'connections', { sourceId, destinationId })
}

/** Makes a source with a webhook that gets events in lists. @returns its write key. */
export async function addBatchedSource(
  product: Program,
  webhookUrl: string,
  batchSize: number,
  concurrency: number,
): Promise<string> {
  const config = { webhookUrl, batchSize }
  const { destination } = await post(product, 'destinations', {
    ...{ name: 'Sink', type: 'WEBHOOK', config, delivery: { concurrency } },
  })
  return addSourceOf(product, [destination!.id])
}

/** Makes a webhook, with a transformation of this code where some is given. @returns its id. */
export async function addDestination(product: Program, webhookUrl: string, code?: string): Promise<string> {
  const transformationIds = code === undefined ? [] : [await addTransformation(product, code)]
  const config = { webhookUrl }
  const { destination } = await post(product, 'destinations', {
    ...{ name: 'Sink', type: 'WEBHOOK', config, transformationIds },
  })
  return destination!.id
}

async function addTransformation(product: Program, code: string): Promise<string> {
  const { transformation } = await post(product, 'transformations?publish=true', { name: 'Edit', code })
  return transformation!.id
}

/** Sends an event for each address, each of another user, to go there in place of the webhook's own address. */
export async function sendTo(product: Program, writeKey: string, urls: readonly string[]): Promise<void> {
  const batch = urls.map((fullPath, i) => ({ type: 'track', event: 'Steered', userId: `u-${i}-${fullPath}`, fullPath }))
  const body = JSON.stringify({ writeKey, batch })
  const response = await fetch(`${product.url}/v1/batch`, { method: 'POST', body })
  if (!response.ok) throw new Error(`POST /v1/batch: ${response.status} ${await response.text()}`)
  await response.arrayBuffer()
}

/** Lets code run once on one event, whatever comes of it. Resolves early when aborted. */
export async function testCode(product: Program, code: string, signal: AbortSignal): Promise<void> {
  try {
    const response = await fetch(`${product.url}/v2/transformations/test`, {
      method: 'POST',
      headers: { authorization: `Bearer ${OWNER_TOKEN}` },
      body: JSON.stringify({ code, events: [{ type: 'track', event: 'Test' }] }),
      signal,
    })
    if (!response.ok) throw new Error(`POST /v2/transformations/test: ${response.status} ${await response.text()}`)
    await response.arrayBuffer()
  } catch (error) {
    if (!signal.aborted) throw error
  }
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

/** Destinations whose user code runs in the penalty process. */
export async function penalised(product: Program): Promise<number> {
  const response = await fetch(`${product.url}/metrics`, { signal: AbortSignal.timeout(CALL_TIMEOUT_MS) })
  return Number(/^millrace_transformation_penalised (\d+)$/m.exec(await response.text())![1])
}

/** Age of the oldest event that the schema catalog has not counted yet. */
export async function catalogLagSeconds(product: Program): Promise<number> {
  const response = await fetch(`${product.url}/metrics`, { signal: AbortSignal.timeout(CALL_TIMEOUT_MS) })
  return Number(/^millrace_schema_lag_seconds (\S+)$/m.exec(await response.text())![1])
}

/** Resolves once the schema catalog has counted everything. @throws Error if that takes half an hour. */
export async function catalogCaughtUp(product: Program): Promise<void> {
  for (const end = performance.now() + CATCH_UP_TIMEOUT_MS; (await catalogLagSeconds(product)) > 0; ) {
    if (performance.now() > end) throw new Error('the catalog does not catch up')
    await delay(LOOK_AGAIN_MS)
  }
}

/** Resolves once /ready says 200. */
export async function becomesReady(product: Program): Promise<void> {
  const signal = AbortSignal.timeout(CALL_TIMEOUT_MS)
  while (!(await fetch(`${product.url}/ready`, { signal })).ok);
}

/** The product as a seed sees it. @param sinkUrl where webhooks go. */
export function groundOf({ url }: Program, sinkUrl: string): Ground {
  const request = async (path: string, authorization: string, method: string, body: unknown) => {
    const written = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(new URL(path, url), { method, headers: { authorization }, ...written })
    const text = await response.text()
    return { status: response.status, text, json: text.startsWith('{') ? JSON.parse(text) : undefined }
  }
  return {
    url,
    sink: { url: sinkUrl },
    api: (method, path, body) => request(path, `Bearer ${OWNER_TOKEN}`, method, body),
    send: (path, body, writeKey) => request(path, `Basic ${btoa(`${writeKey}:`)}`, 'POST', body),
  }
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
