import {
  type ControlPlane,
  decodeBody,
  parseBody,
  readBody,
  type SourceType,
  sourceClass,
} from '@millrace/control-plane'
import type { DestinationRegistry } from '@millrace/destinations'
import { type Clock, RateLimiter } from '@millrace/std'
import {
  authorizationRoutes,
  connectionTestRoute,
  fieldOptionsRoute,
  type PendingAuthorizations,
  testApiRoutes,
} from '@millrace/test-api'
import type { Sandboxes } from '@millrace/transformations'
import type { Settings } from '../config/settings.ts'
import type { Ending } from '../ending.ts'
import type { Callers } from '../http/callers.ts'
import type { ServerLogger } from '../logger.ts'
import type { OutboundClients } from '../outbound-clients.ts'
import { VERSION } from '../version.ts'
import type { Part } from './part.ts'

/** Maximum bytes of an answer in a test result. */
const MAX_SHOWN_ANSWER_BYTES = 1024 * 1024

interface TestingNeeds {
  readonly settings: Settings
  readonly controlPlane: ControlPlane
  readonly callers: Callers
  readonly registry: DestinationRegistry
  readonly sandboxes: Sandboxes
  readonly outbound: OutboundClients
  /** Default: authorizations under way are in the memory of this process. */
  readonly authorizations?: PendingAuthorizations | undefined
  readonly ending: Ending
  readonly clock: Clock
  readonly logger: ServerLogger
}

/** Tests one message without storing it, and tests whether a destination is reachable. */
export function openTesting(needs: TestingNeeds): Part {
  const { settings, controlPlane, callers, registry, sandboxes, outbound, authorizations, ending, clock, logger } =
    needs
  const rates = new RateLimiter(clock)
  const common = {
    configuration: () => controlPlane.snapshot(),
    destinationTypes: registry,
    newClient: () => outbound.make({ maxAnswerBytes: MAX_SHOWN_ANSWER_BYTES }),
    isReady: () => ending.reason === undefined,
    clock,
    version: VERSION,
  }
  return {
    role: 'control',
    routes: [
      testApiRoutes({
        ...common,
        sourceClass: (type) => sourceClass(type as SourceType),
        userCode: sandboxes,
        credentials: () => controlPlane.credentials.values(),
        authenticate: ({ raw }, id) => callers.tester(raw, id),
        isFromDashboard: ({ raw }) => callers.isDashboard(raw),
        takeRequest: (tokenId) => rates.take(tokenId, settings.testApiRequestsPerMinute),
        bodies: { read: readBody, decode: decodeBody, parse: parseBody },
        limits: {
          maxBodyBytes: settings.maxBodyBytes,
          maxEventBytes: settings.maxEventBytes,
          concurrency: settings.testApiConcurrency,
          timeoutMs: settings.testApiTimeoutMs,
        },
        areDefinitionsOpen: settings.areDefinitionsOpen,
        logger,
      }),
    ],
    v2Routes: [
      connectionTestRoute(common),
      fieldOptionsRoute(common),
      authorizationRoutes({ ...common, authorizations }),
    ],
    [Symbol.asyncDispose]: async () => {},
  }
}
