import { largestModelEvents } from '@millrace/dev-env/seed-documents'
import { addSource, catalogCaughtUp, groundOf } from '../product.ts'
import type { Program } from '../programs.ts'

/** Sends an event of each version of the largest model, and waits until they are counted. */
export async function sendLargestModel(product: Program, sinkUrl: string): Promise<void> {
  const writeKey = await addSource(product)
  const { send } = groundOf(product, sinkUrl)
  for (const event of largestModelEvents()) {
    const { status, text } = await send('/v1/track', event, writeKey)
    if (status !== 200) throw new Error(`an event was answered ${status}: ${text}`)
  }
  await catalogCaughtUp(product)
}
