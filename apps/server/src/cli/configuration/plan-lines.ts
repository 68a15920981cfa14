import type { PlannedChange } from '@millrace/api-types'
import type { JsonValue } from '@millrace/protocol'
import { type Colour, oneLine, type Paint } from '../paint.ts'

const LOOKS: Record<PlannedChange['action'], { readonly sign: string; readonly colour: Colour }> = {
  create: { sign: '+', colour: 'green' },
  update: { sign: '~', colour: 'yellow' },
  delete: { sign: '-', colour: 'red' },
}
const MAX_VALUE_LENGTH = 80

/** A plan for people: a line for each resource, and below it a line for each changed path. */
export function planLines(changes: readonly PlannedChange[], paint: Paint): string[] {
  const width = Math.max(0, ...changes.map(({ kind }) => kind.length))
  const lines = changes.flatMap(({ action, kind, key, diff }) => {
    const { sign, colour } = LOOKS[action]
    const what = `${sign} ${action} ${oneLine(kind).padEnd(width)}  ${oneLine(key.replace('/', ' → '))}`
    return [`  ${paint(colour, what)}`, ...diff.map((line) => `      ${oneLine(line.path)}: ${difference(line)}`)]
  })
  const counts = (['create', 'update', 'delete'] as const).map(
    (action) => `${changes.filter((change) => change.action === action).length} to ${action}`,
  )
  return [...lines, '', `${counts.join(', ')}.`]
}

function difference({ from, to, secretChanged }: PlannedChange['diff'][number]): string {
  if (!secretChanged) return `${value(from)} → ${value(to)}`
  if (from === null) return '(secret added)'
  return to === null ? '(secret removed)' : '(secret changed)'
}

function value(json: JsonValue): string {
  return oneLine(JSON.stringify(json), MAX_VALUE_LENGTH)
}
