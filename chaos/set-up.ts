import type { Arrivals } from './arrivals.ts'
import { Product } from './product.ts'
import { counted, type Run } from './program.ts'
import type { Webhook } from './webhooks.ts'

export interface Made {
  readonly sourceId: string
  readonly writeKey: string
  /** In the order of the webhooks. */
  readonly destinationIds: readonly string[]
}

/** More than threads, so that each delivers some of the users of one source. */
const ORDER_SHARDS = 16
/** Events that a line names. */
const MAX_NAMED = 5

/** Makes a source with a destination connected to it for each URL. With several delivery threads, all of them deliver its events. */
export async function makeSource(product: Product, urls: readonly string[]): Promise<Made> {
  const config = Product.deliveryThreads === 1 ? {} : { config: { orderShards: ORDER_SHARDS } }
  const { source } = await product.call('POST', '/v2/sources', { name: 'Load', type: 'HTTP', ...config })
  const destinationIds: string[] = []
  for (const url of urls) destinationIds.push(await addDestination(product, source.id, url))
  return { sourceId: source.id, writeKey: source.writeKey, destinationIds }
}

export async function addDestination(product: Product, sourceId: string, webhookUrl: string): Promise<string> {
  const made = { name: `Hook ${webhookUrl}`, type: 'WEBHOOK', config: { webhookUrl } }
  const { destination } = await product.call('POST', '/v2/destinations', made)
  await product.call('POST', '/v2/connections', { sourceId, destinationId: destination.id })
  return destination.id
}

/**
 * Waits for all of them at every webhook and looks at their order.
 *
 * @param mayBeLate whether an event that came after a later one of its user may have done so. Default: none.
 * @returns the facts of it.
 */
export async function delivered(
  run: Run,
  webhooks: readonly Pick<Webhook, 'arrivals'>[],
  acknowledged: readonly string[],
  withinMs: number,
  mayBeLate: (messageId: string) => boolean = () => false,
): Promise<string[]> {
  run.say('waiting for what was acknowledged')
  const isHere = webhooks.map(({ arrivals }) => inOrder(arrivals, acknowledged))
  const lost = () => webhooks.reduce((sum, { arrivals }) => sum + arrivals.missing(acknowledged), 0)
  await run.eventually(
    () => isHere.every((each) => each()),
    withinMs,
    () => counted(lost(), 'lost'),
  )
  const allowed = webhooks.flatMap(({ arrivals }) => arrivals.late).filter(mayBeLate).length
  const outOfOrder = webhooks.reduce((sum, { arrivals }) => sum + arrivals.outOfOrder, 0) - allowed
  const late = webhooks.flatMap(({ arrivals }) => arrivals.late).filter((each) => !mayBeLate(each))
  run.check(outOfOrder === 0, `order broken, such as by ${late.slice(0, MAX_NAMED).join(' ')}`)
  const events = webhooks.reduce((sum, { arrivals }) => sum + arrivals.events, 0)
  return [
    counted(acknowledged.length, 'acknowledged'),
    webhooks.length === 1 ? counted(events, 'delivered') : `${counted(events, 'delivered')} to ${webhooks.length}`,
    counted(
      webhooks.reduce((sum, { arrivals }) => sum + arrivals.repeats, 0),
      'repeated',
    ),
    counted(lost(), 'lost'),
    counted(outOfOrder, 'out of order'),
  ]
}

/** Whether all are here, looking at each that is only once. */
function inOrder(arrivals: Arrivals, messageIds: readonly string[]): () => boolean {
  let next = 0
  return () => {
    while (next < messageIds.length && arrivals.times(messageIds[next]!) > 0) next++
    return next === messageIds.length
  }
}

/** Every line of level error or above is something that broke. */
export function checkErrors(run: Run, product: Product): void {
  run.check(product.errors.length === 0, `${product.errors.length} errors in the log, such as ${product.errors[0]}`)
}

/** Stops it as an operator would. */
export async function stopped(run: Run, product: Product): Promise<void> {
  const code = await product.stop()
  run.check(code === 0, `exit code ${code}`)
}

export function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}

/** Events that the schema catalog has counted, of all sources. */
export async function countedByCatalog(product: Product): Promise<number> {
  const models: { TotalCount: number }[] = await product.call('GET', '/schemas/event-models?WriteKey=')
  return models.reduce((sum, { TotalCount }) => sum + TotalCount, 0)
}
