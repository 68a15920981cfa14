import { type DestinationModule, overriddenConfig } from '@millrace/destinations'
import { type Answered, type Sender, Stages, sendOnce } from '@millrace/pipeline'
import type { JsonObject } from '@millrace/protocol'
import type { Clock } from '@millrace/std'
import { maskingOf } from './shown-report.ts'

/** @see contracts/dashboard.md §4 N6 */
export interface ConnectionTested {
  /** False where the type has nothing to test with. */
  readonly tested: boolean
  readonly ok: boolean
  readonly text: string
  readonly durationMs: number
}

export interface ConnectionToTest {
  readonly module: DestinationModule
  readonly config: JsonObject
  /** That the configuration is a change of. */
  readonly saved: { readonly config: JsonObject } | undefined
  /** Whether saved secrets may go where the configuration points. */
  readonly mayCarry: boolean
}

const NOTHING_TESTED: ConnectionTested = { tested: false, ok: true, text: 'Nothing was tested.', durationMs: 0 }
/** Of an answer; below 500 somebody was there, even if HEAD is not what it likes. */
const REFUSING = [401, 403, 407]

/**
 * Sends the one request by which a type tries its configuration, as its deliveries would be sent.
 *
 * @see contracts/test-api.md §9, dashboard.md §4 N6, decision 0042
 */
export async function testConnection(
  { module, config, saved, mayCarry }: ConnectionToTest,
  surroundings: {
    readonly sender: Sender
    readonly signal: AbortSignal
    readonly clock: Clock
    readonly version: string
  },
): Promise<ConnectionTested> {
  const { testConnection: makeRequest } = module
  if (makeRequest === undefined) return NOTHING_TESTED
  const { sender, signal, clock, version } = surroundings
  const override = overriddenConfig(module, saved?.config ?? {}, config, mayCarry)
  const stages = new Stages(
    {
      id: '',
      name: '',
      workspaceId: '',
      transformations: [],
      config: override.config,
      ...(saved === undefined ? {} : { savedConfig: saved.config }),
      module: { ...module, accepts: () => true, transform: (_event, context) => [makeRequest(context)] },
    },
    {
      userAgent: `Millrace-Test/${version}`,
      isUserAgentAdded: true,
      nowSeconds: () => Math.floor(clock.now() / 1000),
    },
  )
  // Of a type that it takes; what else would be in the event, the request does not ask for.
  const made = stages.destTransform({ type: module.definition.config.supportedMessageTypes['cloud']![0]! }, '')
  const derivedSecrets = 'error' in made ? [] : made.derivedSecrets
  const masking = maskingOf(
    module,
    saved?.config ?? {},
    override,
    { usedCredentials: [], derivedSecrets: [...derivedSecrets] },
    true,
  )
  if ('error' in made) return { tested: true, ok: false, text: masking.text(made.error), durationMs: 0 }
  for await (const answered of sendOnce(made.ready.requests, sender, signal)) {
    return { tested: true, ...judged(answered, (text) => masking.text(text)) }
  }
  return NOTHING_TESTED
}

function judged(answered: Answered, masked: (text: string) => string): Omit<ConnectionTested, 'tested'> {
  const durationMs = Math.round('durationMs' in answered ? answered.durationMs : 0)
  if (answered.kind !== 'answer') return { ok: false, text: masked(answered.text), durationMs }
  const { status } = answered
  if (REFUSING.includes(status)) return { ok: false, text: `Credentials refused: answered ${status}.`, durationMs }
  return { ok: status < 500, text: `Answered ${status}.`, durationMs }
}
