import type { DestinationCase } from '../../packages/destinations/src/destination-case.ts'

/** Lines of a guide are at most this long where JSON can be broken. */
const WIDTH = 120

/**
 * A guide whose section "Examples" shows the documented cases. Sentences between the heading of an example and its configuration
 * stay, and so does everything outside the section.
 *
 * @throws Error if the guide has no section "Examples".
 */
export function withExamples(guide: string, cases: readonly DestinationCase[]): string {
  const start = guide.search(/^## Examples$/m)
  if (start < 0) throw new Error('the guide has no heading "## Examples": add one where the examples belong')
  const rest = guide.slice(start + 1).search(/^## /m)
  const end = rest < 0 ? guide.length : start + 1 + rest
  const section = guide.slice(start, end)
  const [intro = ''] = section.split(/^### /m)
  const sentences = sentencesOf(section)
  const shown = cases.filter(({ documented }) => documented).map((each) => example(each, sentences.get(each.name)))
  return `${guide.slice(0, start)}${[intro.trimEnd(), ...shown].join('\n\n')}\n${rest < 0 ? '' : '\n'}${guide.slice(end)}`
}

function sentencesOf(section: string): Map<string, string> {
  const examples = section.split(/^### /m).slice(1)
  return new Map(
    examples.map((text) => {
      const [heading = '', ...lines] = text.split('\n')
      const configuration = lines.indexOf('Configuration:')
      return [heading, lines.slice(0, Math.max(configuration, 0)).join('\n').trim()]
    }),
  )
}

function example({ name, config, event, batch, expected }: DestinationCase, sentence: string | undefined): string {
  const parts = [`### ${name}`]
  if (sentence) parts.push(sentence)
  parts.push('Configuration:', block(config), 'Event:', block(event))
  if ('error' in expected) parts.push(`Error: \`${expected.error}\``)
  else parts.push(...requestBlocks(expected.requests))
  if (batch !== undefined) {
    parts.push(
      'Further events of the batch:',
      ...batch.events.map(block),
      'Request of the batch:',
      block(batch.expected),
    )
  }
  return parts.join('\n\n')
}

function requestBlocks(requests: readonly unknown[]): string[] {
  if (requests.length === 0) return ['There is no request.']
  return [requests.length === 1 ? 'Request:' : 'Requests:', ...requests.map(block)]
}

function block(value: unknown): string {
  return `\`\`\`json\n${json(value, 0, 0)}\n\`\`\``
}

/**
 * JSON on one line where it fits, else one member a line.
 *
 * @param before characters on the line in front of the value.
 */
function json(value: unknown, indent: number, before: number): string {
  const line = oneLine(value)
  if (before + line.length <= WIDTH && (indent > 0 || line.length <= WIDTH)) return line
  const inner = ' '.repeat(indent + 2)
  if (Array.isArray(value)) {
    const elements = value.map((each) => `${inner}${json(each, indent + 2, indent + 3)}`)
    return `[\n${elements.join(',\n')}\n${' '.repeat(indent)}]`
  }
  if (typeof value !== 'object' || value === null) return line
  const members = Object.entries(value).map(([name, each]) => {
    const key = `${inner}${JSON.stringify(name)}: `
    return `${key}${json(each, indent + 2, key.length + 1)}`
  })
  return `{\n${members.join(',\n')}\n${' '.repeat(indent)}}`
}

function oneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(oneLine).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([name, each]) => `${JSON.stringify(name)}: ${oneLine(each)}`)
    .join(', ')}}`
}
