import { credentialNames, type DestinationModule, overriddenConfig } from '@millrace/destinations'
import { Stages, sendOnce, tryRemoteConnection } from '@millrace/pipeline'
import type { JsonObject } from '@millrace/protocol'
import type { Clock } from '@millrace/std'
import { maskingOf } from './shown/shown-report.ts'
import type { TestClient } from './test-api-options.ts'

/** @see contracts/dashboard.md §4 N6 */
export interface ConnectionTested {
  /** False where the type has nothing to test with. */
  readonly tested: boolean
  /**
   * `good`: it answered 2xx or 3xx; `doubtful`: somebody answers there, but not what a receiver of events would; `bad`: events
   * would not arrive.
   */
  readonly verdict: 'good' | 'doubtful' | 'bad' | 'unknown'
  /** Of `good`, and of what is not tested. */
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

export const NOTHING_TESTED: ConnectionTested = {
  tested: false,
  verdict: 'unknown',
  ok: true,
  text: 'This type has no connection test. Try it with an event in the test bench.',
  durationMs: 0,
}
/** Answers that are about credentials. */
const REFUSING = [401, 403, 407]

/**
 * Sends the one request by which a type tries its configuration, as its deliveries would be sent.
 *
 * @see contracts/test-api.md §9, dashboard.md §4 N6, decision 0042
 */
export async function testConnection(
  { module, config, saved, mayCarry }: ConnectionToTest,
  deps: {
    readonly sender: TestClient
    readonly signal: AbortSignal
    readonly clock: Clock
    readonly version: string
  },
): Promise<ConnectionTested> {
  if (module.remote !== undefined) return testRemoteConnection({ module, config, saved, mayCarry }, deps)
  const { testConnection: makeRequest } = module
  if (makeRequest === undefined) return NOTHING_TESTED
  const { sender, signal, clock, version } = deps
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
  const made = await stages.destTransform({ type: module.definition.config.supportedMessageTypes['cloud']![0]! }, '')
  const derivedSecrets = 'error' in made ? [] : made.derivedSecrets
  const masking = maskingOf(
    module,
    saved?.config ?? {},
    override,
    { usedCredentials: [], derivedSecrets: [...derivedSecrets] },
    true,
  )
  if ('error' in made) return bad(masking.text(made.error), 0)
  for await (const answered of sendOnce(made.ready.requests, sender, signal)) {
    const durationMs = Math.round('durationMs' in answered ? answered.durationMs : 0)
    if (answered.kind !== 'answer') return bad(masking.text(answered.text), durationMs)
    const { status } = answered
    if (REFUSING.includes(status)) return bad(refusedText(status, module, override.config, made.objects), durationMs)
    if (status >= 200 && status < 400) {
      return { tested: true, verdict: 'good', ok: true, text: `Answered ${status}.`, durationMs }
    }
    if (status >= 500) return bad(`Answered ${status}.`, durationMs)
    return { tested: true, verdict: 'doubtful', ok: false, text: `Reached, but it answered ${status}.`, durationMs }
  }
  return NOTHING_TESTED
}

/** Runs the test of the definition's own code. */
async function testRemoteConnection(
  { module, config, saved, mayCarry }: ConnectionToTest,
  { sender, signal, clock, version }: Parameters<typeof testConnection>[1],
): Promise<ConnectionTested> {
  const override = overriddenConfig(module, saved?.config ?? {}, config, mayCarry)
  const run = {
    destinationId: 'test',
    config: override.config,
    userAgent: `Millrace-Test/${version}`,
    isUserAgentAdded: true,
  }
  const startedAt = clock.monotonic()
  const tried = { run, savedConfig: saved?.config ?? override.config }
  const tested = await tryRemoteConnection(module, tried, { sender, signal, clock })
  if (tested === undefined) return NOTHING_TESTED
  const durationMs = Math.round(clock.monotonic() - startedAt)
  const { outcome, derivedSecrets } = tested
  const { kind, status, text } = outcome
  if (kind === 'delivered') {
    return { tested: true, verdict: 'good', ok: true, text: `Answered ${status}.`, durationMs }
  }
  const masking = maskingOf(module, saved?.config ?? {}, override, { usedCredentials: [], derivedSecrets }, true)
  if (REFUSING.includes(status)) return bad(refusedText(status, module, override.config, override.config), durationMs)
  return bad(masking.text(text === '' ? `Answered ${status}.` : text), durationMs)
}

function bad(text: string, durationMs: number): ConnectionTested {
  return { tested: true, verdict: 'bad', ok: false, text, durationMs }
}

/** Which of the saved or given credentials went there, or where one could be given. */
function refusedText(status: number, module: DestinationModule, config: JsonObject, sent: unknown): string {
  const { definition } = module
  const request = JSON.stringify(sent)
  // The password of an address leaves it only on the way to the network.
  const used = credentialNames(definition, config).filter(
    ({ name, value }) => name.endsWith(' (password)') || request.includes(JSON.stringify(value).slice(1, -1)),
  )
  if (used.length > 0) return `Credentials refused (${status}). Check ${used.map(({ name }) => name).join(', ')}.`
  const places = definition.config.secretKeys.map((key) => key.replace(/\.to$/, ''))
  const named = places.length > 3 ? [...places.slice(0, 2), 'another secret variable'] : places
  const advice = places.length === 0 ? '' : ` Set it in ${named.join(' or ')}.`
  return `It requires a credential (${status}), and none was sent.${advice}`
}
