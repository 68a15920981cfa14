import { grouped } from '@millrace/wording'
import type { CommandIo, Output } from './command-io.ts'

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const

export type Colour = keyof typeof CODES
/** Colours a text if a person reads it and has not disabled colours. */
export type Paint = (colour: Colour, text: string) => string

export function paintFor(output: Output, env: CommandIo['env']): Paint {
  const isPlain = output.isTTY !== true || (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb'
  return isPlain ? (_, text) => text : (colour, text) => `\u001b[${CODES[colour]}m${text}\u001b[0m`
}

// Text from outside must not control the terminal or reverse the direction of text.
const STEERING = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu

/** A text of an event, an answer or a name as one line, with a maximum length. */
export function oneLine(text: string, maxLength = 200): string {
  const plain = text.replace(STEERING, ' ').trim()
  return plain.length > maxLength ? `${plain.slice(0, maxLength - 1)}…` : plain
}

/** One line of a longer text, such as a failure: leading blanks stay. */
export function indentedLine(line: string): string {
  return /^ */.exec(line)![0] + oneLine(line, 1_000)
}

/** JSON for people: terminal control characters stay escaped. */
export function json(value: unknown, indent = 2): string {
  const text = JSON.stringify(value, undefined, indent)
  return text.replace(/[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, (each) => {
    return `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

/** Aligned columns, each as wide as its widest cell; the last one is not padded. */
export function columns(rows: readonly (readonly string[])[], gap = '  '): string[] {
  const widths: number[] = []
  for (const row of rows) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length)
  }
  return rows.map((row) => row.map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i]!))).join(gap))
}

/** `1.2 GB`; units are powers of 1,024. */
export function size(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB']
  const step = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10))
  const value = bytes / 1024 ** step
  return `${step === 0 || value >= 100 ? grouped(Math.round(value)) : value.toFixed(1)} ${units[step]}`
}

/** `84 ms`, `30.0 s`. */
export function duration(ms: number): string {
  return ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}

/** `2026-03-04 09:15:31.900`, in UTC like every time of the command line. */
export function time(rfc3339: string): string {
  return oneLine(rfc3339).replace('T', ' ').replace(/Z$/, '')
}
