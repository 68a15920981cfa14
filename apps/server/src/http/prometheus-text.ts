import type { Histogram } from '@millrace/std'

/** One line of a metric family: labels, and the value. */
export type MetricSample = readonly [labels: Readonly<Record<string, string | number>>, value: number]

/*
 * Prometheus text format 0.0.4. The counters are plain numbers in their parts; this code only formats them.
 *
 * @see contracts/ingest.md §8 [D137], decision 0094
 */

export function counter(name: string, help: string, samples: readonly MetricSample[]): string {
  return family(name, 'counter', help, samples)
}

/** A counter with one value. */
export function total(name: string, help: string, value: number): string {
  return counter(name, help, [[{}, value]])
}

export function gauges(name: string, help: string, samples: readonly MetricSample[]): string {
  return family(name, 'gauge', help, samples)
}

/** A gauge with one value. */
export function gauge(name: string, help: string, value: number): string {
  return gauges(name, help, [[{}, value]])
}

export function histogram(name: string, help: string, { bounds, counts, sum, total }: Histogram): string {
  let below = 0
  const buckets = bounds.map((bound, i) => {
    below += counts[i]!
    return `${name}_bucket{le="${bound}"} ${below}\n`
  })
  const rest = `${name}_bucket{le="+Inf"} ${total}\n${name}_sum ${sum}\n${name}_count ${total}\n`
  return `# HELP ${name} ${help}\n# TYPE ${name} histogram\n${buckets.join('')}${rest}`
}

/** Counts by the value of one label. */
export function labelled(label: string, counts: Iterable<readonly [string, number]>): MetricSample[] {
  return [...counts].map(([value, count]): MetricSample => [{ [label]: value }, count])
}

function family(name: string, type: string, help: string, samples: readonly MetricSample[]): string {
  const lines = samples.map(([labels, value]) => `${name}${labelText(labels)} ${value}\n`)
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`
}

function labelText(labels: MetricSample[0]): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${String(value).replace(/[\\"\n]/g, escaped)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escaped(character: string): string {
  return character === '\n' ? '\\n' : `\\${character}`
}
