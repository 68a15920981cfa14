import { examineTopics, type TopicReport } from '@millrace/log/kafka'
import type { Clock } from '@millrace/std'
import { grouped } from '@millrace/wording'
import { type ClusterSettings, kafkaAddress, RECORD_ROOM_BYTES } from '../../../cluster/engines.ts'
import { size } from '../../paint.ts'
import { type Finding, fail, ok, warn } from '../finding.ts'
import { rangesText } from '../ranges-text.ts'

const HOUR_MS = 3_600_000
const STRENGTHEN =
  'a 200 may not survive the loss of one broker. kafka-reassign-partitions and kafka-configs change it while the cluster runs'

export interface KafkaFindings {
  readonly findings: readonly Finding[]
  /** Undefined: no broker answers. */
  readonly report: TopicReport | undefined
}

export async function checkKafka(settings: ClusterSettings, clock: Clock): Promise<KafkaFindings> {
  let report: TopicReport
  try {
    report = await examineTopics(kafkaAddress(settings), settings.kafkaPrefix, clock)
  } catch (error) {
    const places = settings.kafkaBrokers.join(', ')
    const advice = 'check MILLRACE_KAFKA_BROKERS, _TLS and _SASL, and the network'
    return { findings: [fail('kafka', `${places}: ${(error as Error).message}: ${advice}`)], report: undefined }
  }
  const brokers = report.brokers === 1 ? '1 broker answers' : `${report.brokers} brokers answer`
  return { findings: [ok('kafka', brokers), ...topicFindings(report, settings)], report }
}

function topicFindings({ topics, checked }: TopicReport, settings: ClusterSettings): Finding[] {
  const [live, imports] = topics as [TopicReport['topics'][number], TopicReport['topics'][number]]
  const missing = topics.filter(({ partitions }) => partitions.length === 0)
  if (missing.length === 2) {
    return [ok('topics', `${live.name} and ${imports.name} do not exist yet: the first start makes them`)]
  }
  if (missing.length === 1) {
    return [fail('topics', `${missing[0]!.name} is missing, and the other topic is there: was it deleted?`)]
  }
  if (checked === undefined) {
    const counts = topics.map(({ name, partitions }) => `${name} has ${partitions.length}`).join(', ')
    return [fail('topics', `the numbers of partitions must be equal: ${counts}`)]
  }
  const problems = [
    ...topics.flatMap((topic) => partitionFindings(topic, checked.minInSync)),
    ...weaknessFindings(checked.weaknesses, settings),
    ...settingFindings(checked, settings),
  ]
  const { homes } = checked.places
  const facts = `${live.name} and ${imports.name}: ${homes} partitions each, kept for ${hours(checked.retentionMs)}`
  return problems.length === 0 ? [ok('topics', facts)] : problems
}

/** One line for all: what helps is the same. */
function weaknessFindings(weaknesses: readonly string[], { isKafkaUnsafe }: ClusterSettings): Finding[] {
  if (weaknesses.length === 0) return []
  return [(isKafkaUnsafe ? warn : fail)('topics', `${weaknesses.join('; ')}: ${STRENGTHEN}`)]
}

function partitionFindings({ name, partitions }: TopicReport['topics'][number], minInSync: number): Finding[] {
  const where = (test: (each: (typeof partitions)[number]) => boolean) => [
    ...partitions.keys().filter((index) => test(partitions[index]!)),
  ]
  const groups = [
    [fail, where(({ leader }) => leader === undefined), 'no leader: events of their sources are refused with 503'],
    [
      fail,
      where(({ leader, inSync }) => leader !== undefined && inSync < minInSync),
      `fewer than ${minInSync} replicas in sync: events of their sources are refused with 503`,
    ],
    [
      warn,
      where(({ inSync, replicas }) => inSync >= minInSync && inSync < replicas),
      'replicas that are not in sync: a broker is away, or catches up',
    ],
  ] as const
  return groups.flatMap(([verdict, found, text]) => {
    return found.length === 0 ? [] : [verdict('topics', `partitions ${rangesText(found)} of ${name} have ${text}`)]
  })
}

/** The topics keep the settings that they were made with; later values of the environment do not reach them. */
function settingFindings(
  { retentionMs, maxBatchBytes }: NonNullable<TopicReport['checked']>,
  { logRetentionMs, maxBodyBytes }: ClusterSettings,
): Finding[] {
  const findings: Finding[] = []
  if (retentionMs !== logRetentionMs) {
    const text = `MILLRACE_LOG_RETENTION_HOURS is ${hours(logRetentionMs)}, but the topics keep records for ${hours(retentionMs)}`
    findings.push(warn('topics', `${text}: retention.ms of the topics decides; make them equal`))
  }
  if (maxBodyBytes + RECORD_ROOM_BYTES > maxBatchBytes) {
    const text = `max.message.bytes of the topics is ${size(maxBatchBytes)}, too small for MILLRACE_MAX_BODY_KB`
    findings.push(fail('topics', `${text}: larger requests are refused with 503; raise it`))
  }
  return findings
}

function hours(ms: number): string {
  return Number.isFinite(ms) ? `${grouped(ms / HOUR_MS)} h` : 'ever'
}
