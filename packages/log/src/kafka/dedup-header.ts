import { ATTEMPTS, type DedupRule } from '../dedup.ts'

const KEY = Buffer.from('dedup')
const WINDOW = 'window '
const ATTEMPT = 'attempt '

/*
 * The header `dedup` of a Kafka record: `window <ms>` or `attempt <exit|first|repeat>`. It is the rule of the source at the time
 * of acceptance, so every owner of the partition decides alike, whatever the configuration is by then.
 */

export function headersOf(rule: DedupRule): Map<Buffer, Buffer> {
  const value = 'windowMs' in rule ? `${WINDOW}${rule.windowMs}` : `${ATTEMPT}${rule.attempt}`
  return new Map([[KEY, Buffer.from(value)]])
}

/** @returns undefined without a rule, and for one of a later version. */
export function ruleOf(headers: readonly (readonly [Buffer | null, Buffer | null])[]): DedupRule | undefined {
  for (const [key, value] of headers) {
    if (key === null || value === null || !KEY.equals(key)) continue
    const text = value.toString()
    const windowMs = text.startsWith(WINDOW) ? Number(text.slice(WINDOW.length)) : 0
    if (windowMs > 0) return { windowMs }
    const attempt = ATTEMPTS.find((each) => text === `${ATTEMPT}${each}`)
    if (attempt !== undefined) return { attempt }
  }
  return undefined
}
