import { addSource, catalogCaughtUp } from '../product.ts'
import type { Program } from '../programs.ts'

/** What the schema catalog keeps of one model at most. */
export const LARGEST_MODEL = { versions: 200, keys: 2_000 }
/** What an event has besides its properties: its id, times and context. */
const COMMON_KEYS = 6
/** The properties of an event are a window over all, which moves on with each version. */
const WINDOW = 450
const STEP = 10

/** Sends an event of each version, and waits until they are counted. */
export async function sendLargestModel(product: Program): Promise<void> {
  const authorization = `Basic ${btoa(`${await addSource(product)}:`)}`
  const { versions, keys } = LARGEST_MODEL
  const keyOf = (place: number) => `key${place % (keys - COMMON_KEYS)}`
  for (let version = 0; version < versions; version++) {
    const properties = Object.fromEntries(Array.from({ length: WINDOW }, (_, at) => [keyOf(version * STEP + at), at]))
    const body = JSON.stringify({ userId: 'u-1', event: 'Largest', properties })
    const response = await fetch(`${product.url}/v1/track`, { method: 'POST', headers: { authorization }, body })
    if (!response.ok) throw new Error(`an event was answered ${response.status}: ${await response.text()}`)
    await response.text()
  }
  await catalogCaughtUp(product)
}
