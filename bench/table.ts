import type { Measured, Row } from './row.ts'
import { median, middleHalf } from './statistics.ts'

/** A row and what came of it. */
export interface Line {
  readonly row: Row
  readonly measured: Measured
}

const HEADS = ['', 'figure', 'goal', 'measured', 'limit', 'ratio', 'spread']

/** For people: columns of a width that fits. */
export function tableOf(lines: readonly Line[]): string {
  const cells = lines.map(({ row, measured }) => [
    row.name,
    row.figure,
    row.goal,
    measured.measured,
    measured.limit ?? '–',
    measured.ratio?.toFixed(2) ?? '–',
    measured.spread ?? '–',
  ])
  const widths = HEADS.map((head, column) => Math.max(...[head, ...cells.map((line) => line[column]!)].map(lengthOf)))
  return [HEADS, widths.map((width) => '─'.repeat(width)), ...cells]
    .map((line) => line.map((cell, column) => cell.padEnd(widths[column]!)).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('')
}

/** `9,524/s against 13,990/s: 0.68 (0.66–0.70)` */
export function resultOf({ measured: { measured, limit, ratio, spread } }: Line): string {
  const against = limit === undefined ? '' : ` against ${limit}`
  const times = ratio === undefined ? '' : `: ${ratio.toFixed(2)}`
  return `${measured}${against}${times}${spread === undefined ? '' : ` (${spread})`}`
}

export function perSecond(value: number): string {
  return `${value.toLocaleString('en', { maximumFractionDigits: 0 })}/s`
}

export function micros(value: number): string {
  return `${value.toFixed(0)} µs`
}

export function millis(value: number): string {
  return `${value.toFixed(1)} ms`
}

/** Of the 50th and 99th percentiles of several runs, in ms. */
export function percentilesText(p50: readonly number[], p99: readonly number[]): Pick<Measured, 'measured' | 'spread'> {
  return {
    measured: `${millis(median(p50))} / ${millis(median(p99))}`,
    spread: `${middleHalf(p50).map(millis).join('–')} / ${middleHalf(p99).map(millis).join('–')}`,
  }
}

export function seconds(value: number): string {
  return `${value.toFixed(2)} s`
}

function lengthOf(text: string): number {
  return text.length
}
