import type { JsonObject } from '@millrace/protocol'
import type { FastifyRequest } from 'fastify'
import type { Places } from '../places.ts'
import type { StageFlags } from '../stage-flags.ts'
import type { TestApiOptions, TestedDestination, Tester } from '../test-api-options.ts'
import { TestRefused } from '../test-refused.ts'
import { askedIn, messageOf, overrideOf, refuseOverride, stageOf } from '../test-request.ts'
import { REFUSAL_TEXTS } from '../texts.ts'
import { disabledResult, testDestination } from './run.ts'
import type { RunNotes } from './run-notes.ts'
import type { TestRun } from './test-run.ts'
import { TimeLimit } from './time-limit.ts'

/** How many destinations of a source are tested side by side. [D234] */
const SIDE_BY_SIDE = 8

/** Both operations, from a body that is a JSON object to the answer. @see contracts/test-api.md §4, §5, §8 */
export class TestRuns {
  readonly #options: TestApiOptions
  readonly #places: Places
  readonly #notes: RunNotes

  constructor(options: TestApiOptions, places: Places, notes: RunNotes) {
    this.#options = options
    this.#places = places
    this.#notes = notes
  }

  /** @param gone aborted when the caller goes away. @throws TestRefused */
  async testDestination(request: FastifyRequest, gone: AbortSignal): Promise<JsonObject> {
    const { id } = request.params as { id: string }
    const body = request.body as JsonObject
    const asked = askedIn(request.query)
    const destination = this.#options.configuration().destinations.get(id)
    if (destination === undefined) throw new TestRefused(404, REFUSAL_TEXTS.destinationNotFound(id))
    const message = messageOf(body)
    const override = overrideOf(body)
    if (!destination.isEnabled && !asked.force) return disabledResult(destination)
    const flags = stageOf(body)
    refuseViewer(request.tester, flags, override)
    const parts = { flags, asked, message, source: undefined, override }
    return this.#run(request, gone, parts, (run) => testDestination(run, destination))
  }

  /** @param gone aborted when the caller goes away. @throws TestRefused */
  async testSource(request: FastifyRequest, gone: AbortSignal): Promise<JsonObject[]> {
    const { id } = request.params as { id: string }
    const body = request.body as JsonObject
    const asked = askedIn(request.query)
    const configuration = this.#options.configuration()
    const source = configuration.sources.get(id)
    if (source === undefined) throw new TestRefused(404, REFUSAL_TEXTS.sourceNotFound(id))
    const message = messageOf(body)
    refuseOverride(body)
    if (!source.isEnabled && !asked.force) throw new TestRefused(400, REFUSAL_TEXTS.sourceDisabled(id))
    const connections = configuration.connectionsOf(id).filter(({ isEnabled }) => isEnabled)
    if (connections.length === 0) throw new TestRefused(400, REFUSAL_TEXTS.sourceUnconnected(id))
    const flags = stageOf(body)
    refuseViewer(request.tester, flags, undefined)
    const destinations = connections.map(({ destinationId }) => configuration.destinations.get(destinationId)!)
    const parts = { flags, asked, message, source, override: undefined }
    return this.#run(request, gone, parts, (run) => sideBySide(destinations, (each) => testOrSkip(run, each)))
  }

  /** @throws TestRefused when no place becomes free. */
  async #run<T>(
    { tester, receivedAt }: FastifyRequest,
    gone: AbortSignal,
    parts: Pick<TestRun, 'flags' | 'asked' | 'message' | 'source' | 'override'>,
    work: (run: TestRun) => Promise<T>,
  ): Promise<T> {
    const options = this.#options
    const giveBack = options.isReady() ? await this.#places.take() : undefined
    if (giveBack === undefined) throw new TestRefused(503, REFUSAL_TEXTS.unavailable)
    const client = options.newClient()
    using limit = new TimeLimit(options.clock, receivedAt, options.limits.timeoutMs)
    gone.addEventListener('abort', () => limit.end())
    if (gone.aborted) limit.end()
    try {
      return await work({ ...parts, options, tester: this.#noting(tester), client, limit })
    } finally {
      giveBack()
      await client.close()
    }
  }

  /** The same one, who tells the audit log once an hour. */
  #noting({ tokenId, role, note }: Tester): Tester {
    return {
      tokenId,
      role,
      note: (destinationId) => {
        if (this.#notes.isFirst(tokenId, destinationId)) note(destinationId)
      },
    }
  }
}

/** A viewer sends nothing, and lends saved secrets to no other configuration. @throws TestRefused [D240] */
function refuseViewer({ role }: Tester, flags: StageFlags, override: JsonObject | undefined): void {
  if (role === 'viewer' && (flags.send_to_destination || override !== undefined)) {
    throw new TestRefused(403, REFUSAL_TEXTS.forbidden)
  }
}

async function testOrSkip(run: TestRun, destination: TestedDestination): Promise<JsonObject> {
  const isSkipped = !destination.isEnabled && !run.asked.force
  return isSkipped ? disabledResult(destination) : testDestination(run, destination)
}

/** Results in the order of the items, a few of which are worked on at a time. */
async function sideBySide<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  const rest = items.entries()
  const worker = async () => {
    for (const [at, item] of rest) results[at] = await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(SIDE_BY_SIDE, items.length) }, worker))
  return results
}
