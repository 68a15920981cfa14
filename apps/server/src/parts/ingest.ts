import { type ControlPlane, trustedAddresses } from '@millrace/control-plane'
import type { DestinationRegistry } from '@millrace/destinations'
import { Gateway, type GatewayOptions, type IngestMetrics, ingestInWords, type RefusalBook } from '@millrace/gateway'
import type { EventLog, LogWriter } from '@millrace/log'
import type { Clock } from '@millrace/std'
import { Acceptance, type FreeSpace } from '../acceptance.ts'
import type { Settings } from '../config/settings.ts'
import type { Ending } from '../ending.ts'
import { gatewaySources } from '../gateway-sources.ts'
import type { Callers } from '../http/callers.ts'
import { counter, histogram, labelled, type MetricSample, total } from '../http/prometheus-text.ts'
import { publicAddress } from '../http/public-address.ts'
import { refusalRoutes } from '../http/refusal-routes.ts'
import { sourceConfigRoute } from '../http/source-config.ts'
import type { ServerLogger } from '../logger.ts'
import { webLibraryRoutes } from '../web-library/web-library-routes.ts'
import type { Part } from './part.ts'

const BODY_TIMEOUT_MS = 30_000

interface IngestNeeds {
  readonly settings: Settings
  readonly storage: {
    readonly log: LogWriter & Pick<EventLog, 'homes'>
    readonly disk: FreeSpace
  }
  readonly controlPlane: ControlPlane
  readonly registry: DestinationRegistry
  readonly callers: Callers
  /** Receives parsed records, so that the pipeline does not parse them again. */
  readonly parsed: NonNullable<GatewayOptions['parsed']>
  readonly ending: Ending
  /** The number of gateways that share the rate limit of a source; absent: this one alone. */
  readonly gateways?: () => number
  /** URL of this server on its own machine. */
  readonly baseUrl: string
  readonly clock: Clock
  readonly logger: ServerLogger
}

/** Accepts requests and appends their events to the log. */
export interface IngestPart extends Part {
  readonly counts: IngestMetrics
  readonly refusals: RefusalBook
}

export function openIngest(needs: IngestNeeds): IngestPart {
  const { settings, controlPlane, registry, callers, parsed, ending, baseUrl, clock, logger } = needs
  const { log, disk } = needs.storage
  const acceptance = new Acceptance({ log, disk, ending, logger })
  const gateway = new Gateway({
    log: {
      partitions: log.homes,
      append: (partition, stream, record, dedup) => log.append(partition, stream, record, dedup),
      appendAll: (appends) => log.appendAll(appends),
    },
    parsed,
    findSource: gatewaySources(
      () => controlPlane.snapshot(),
      (key) => controlPlane.credentials.values().get(key),
    ),
    obstacle: () => acceptance.obstacle(),
    addressOf: (request) => callers.holder(request),
    gateways: needs.gateways,
    limits: {
      maxBodyBytes: settings.maxBodyBytes,
      maxEventBytes: settings.maxEventBytes,
      maxNesting: settings.maxNesting,
      maxBatchEvents: settings.maxBatchEvents,
      maxConcurrentRequests: settings.maxConcurrentRequests,
      maxBodyBytesInProgress: settings.maxBodyBytesInProgress,
      bodyTimeoutMs: BODY_TIMEOUT_MS,
    },
    clock,
    logger,
  })
  return {
    role: 'gateway',
    counts: gateway.metrics,
    refusals: gateway.refusals,
    described: ingestInWords(),
    handle: (request, response) => gateway.handle(request, response),
    routes: [
      sourceConfigRoute({
        snapshot: () => controlPlane.snapshot(),
        findModule: (type) => registry.find(type),
        publicUrl: settings.publicUrl,
      }),
      webLibraryRoutes({
        isSource: (writeKey) => controlPlane.snapshot().sourceByWriteKey(writeKey) !== undefined,
        publicAddress: publicAddress({
          configured: settings.publicUrl,
          isTrustedProxy: trustedAddresses(settings.trustedProxies),
          fallback: baseUrl,
        }),
      }),
    ],
    v2Routes: [refusalRoutes(gateway.refusals)],
    metrics: () => metricsOf(gateway.metrics),
    [Symbol.asyncDispose]: async () => gateway.close(),
  }
}

function metricsOf(metrics: IngestMetrics): string[] {
  const requests = [...metrics.requests].flatMap(([route, byStatus]) =>
    [...byStatus].map(([status, count]): MetricSample => [{ route, status }, count]),
  )
  const events = [...metrics.events()].map(
    ({ sourceId, type, count }): MetricSample => [{ source_id: sourceId, type }, count],
  )
  const rejected = labelled('reason', metrics.rejected)
  return [
    counter('millrace_ingest_requests_total', 'Requests to the ingest routes.', requests),
    counter('millrace_ingest_events_total', 'Accepted events.', events),
    counter('millrace_ingest_rejected_total', 'Refused requests by reason.', rejected),
    histogram('millrace_ingest_duration_seconds', 'Time from request to answer.', metrics.durationSeconds),
    histogram('millrace_log_append_seconds', 'Time from append to durable.', metrics.appendSeconds),
    total('millrace_log_sync_failures_total', 'Failed appends.', metrics.failedAppends),
  ]
}
