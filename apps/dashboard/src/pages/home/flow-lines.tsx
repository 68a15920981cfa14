import type { Flow } from './flow.ts'
import styles from './home.module.css'

/** Height of a lane with its gap, and of the head above the first; the styles of the columns use the same values. */
const LANE = 64
const HEAD = 32
const WIDTH = 100

/**
 * Connections: thicker with the logarithm of the rate, dashed if disabled. The table beside them has the same content
 * in words.
 */
export function FlowLines({ flow, pointed }: { readonly flow: Flow; readonly pointed: string | undefined }) {
  const sourceAt = new Map(flow.sources.map(({ id }, at) => [id, at]))
  const destinationAt = new Map(flow.destinations.map(({ id }, at) => [id, at]))
  const height = HEAD + LANE * Math.max(flow.sources.length, flow.destinations.length)
  const isPointed = ({ sourceId, destinationId }: Flow['lines'][number]) =>
    sourceId === pointed || destinationId === pointed
  const hasPointed = flow.lines.some(isPointed)
  return (
    <svg
      className={styles.lines}
      aria-hidden="true"
      viewBox={`0 0 ${WIDTH} ${height}`}
      preserveAspectRatio="none"
      style={{ height }}
    >
      {flow.lines.map((line) => (
        <path
          key={line.id}
          className={styles.line}
          data-off={line.isOff || undefined}
          data-tone={hasPointed ? (isPointed(line) ? 'pointed' : 'faint') : undefined}
          d={curve(middleOf(sourceAt.get(line.sourceId)!), middleOf(destinationAt.get(line.destinationId)!))}
          strokeWidth={lineWidth(line.rate)}
          vectorEffect="non-scaling-stroke"
        />
      ))}
    </svg>
  )
}

/** 1 px for no events, about 2.5 at one event a second, 6 at a thousand and above. */
function lineWidth(rate: number | null): number {
  const width = 1 + Math.max(0, Math.log10((rate ?? 0) * 100 + 1)) * 0.9
  return Math.round(Math.min(width, 6) * 10) / 10
}

/** Width of joined lines: the widest of them. */
export function feedWidth(lines: Flow['lines']): number {
  return Math.max(0, ...lines.map(({ rate }) => lineWidth(rate)))
}

function middleOf(at: number): number {
  return HEAD + LANE * at + (LANE - 8) / 2
}

function curve(from: number, to: number): string {
  return `M0 ${from}C${WIDTH / 2} ${from} ${WIDTH / 2} ${to} ${WIDTH} ${to}`
}
