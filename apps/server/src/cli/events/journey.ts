import type { Attempt, EventTrace, Journey } from '@millrace/api-types'
import type { ResourceNames } from '../names.ts'
import { type Colour, columns, duration, oneLine, type Paint, time } from '../paint.ts'

export const OUTCOME_COLOURS: Readonly<Record<string, Colour>> = {
  delivered: 'green',
  dead_lettered: 'red',
  expired: 'red',
  pending: 'yellow',
  blocked: 'yellow',
  throttled: 'yellow',
  retrying: 'yellow',
}

/** Outcomes that change without any action of a person. */
export function isOnItsWay({ destinations }: EventTrace): boolean {
  return destinations.some(({ outcome }) => outcome === 'pending')
}

/** The outcomes of an accepted event at each destination, as lines for people. */
export function journeyLines(journey: EventTrace, names: ResourceNames, paint: Paint): string[] {
  const { messageId, sourceId, acceptedAt, position, destinations } = journey
  const facts = columns([
    ['message', oneLine(messageId)],
    ['source', named(sourceId, names)],
    ['accepted', `${time(acceptedAt)} UTC, position ${oneLine(position)}`],
    ...['userId', 'anonymousId'].flatMap((member) => {
      const id = journey.event?.[member]
      return id === undefined || id === null ? [] : [[member === 'userId' ? 'user' : 'anonymous', oneLine(String(id))]]
    }),
  ])
  return [
    paint('bold', eventTitle(journey.event)),
    ...facts.map((line) => `  ${line}`),
    ...(destinations.length === 0 ? ['', '  No destination was connected to the source.'] : []),
    ...destinations.flatMap((destination) => ['', ...destinationLines(destination, names, paint)]),
  ]
}

/** `track "Seat Reserved"` */
export function eventTitle(event: EventTrace['event']): string {
  const type = oneLine(String(event?.['type'] ?? 'event'))
  const name = event?.['event'] ?? event?.['name']
  return typeof name === 'string' && name !== '' ? `${type} "${oneLine(name)}"` : type
}

export function named(id: string, names: ResourceNames): string {
  const name = names.get(id)
  return name === undefined ? oneLine(id) : `${oneLine(name)} (${oneLine(id)})`
}

/** One line for each attempt. */
export function attemptLines(attempts: readonly Attempt[], paint: Paint): string[] {
  const rows = attempts.map(({ n, at, durationMs, status, text, ...attempt }) => [
    `${n}.`,
    time(at),
    duration(durationMs),
    `${status} ${oneLine(attempt.class)}${attempt.batch === undefined ? '' : ` in a batch of ${attempt.batch}`}`,
    oneLine(text ?? ''),
  ])
  return columns(rows).map((line, i) => {
    const { class: answerClass } = attempts[i]!
    return paint(answerClass === 'delivered' ? 'dim' : answerClass === 'retry' ? 'yellow' : 'red', line.trimEnd())
  })
}

function destinationLines(destination: Journey, names: ResourceNames, paint: Paint): string[] {
  const { destinationId, outcome, reason, replayId, waiting, requests } = destination
  const colour = OUTCOME_COLOURS[outcome]
  const shownOutcome = oneLine(outcome).replaceAll('_', ' ')
  const line = [
    `  ${colour === undefined ? shownOutcome : paint(colour, shownOutcome)}`,
    // The sentence below contains this with its time.
    reason === null || waiting !== undefined ? '' : `: ${oneLine(reason)}`,
    `  →  ${paint('bold', named(destinationId, names))}`,
    replayId === null ? '' : `, replay ${oneLine(replayId)}`,
  ].join('')
  return [
    line,
    ...(waiting === undefined ? [] : [`    ${oneLine(waiting.sentence, 400)}`]),
    ...requests.flatMap(({ method, endpoint, rendered, attempts }) => [
      ...(endpoint === undefined
        ? []
        : [`    ${oneLine(method ?? '')} ${oneLine(endpoint, 2_000)}${rendered ? ' (rendered again)' : ''}`]),
      ...attemptLines(attempts, paint).map((each) => `      ${each}`),
    ]),
  ]
}
