type Random = () => number
/** The inside of an event's `properties`, as JSON text: what JSON.stringify would not write is wanted, too. */
type Kind = (random: Random) => string

/** Members that some languages, stores and paths give a meaning of their own. */
const NAMES = [
  '__proto__',
  'constructor',
  'a.b',
  'a',
  '',
  '.',
  '0',
  'length',
  'toString',
  '"',
  "' OR 1=1",
  '%00',
  '$where',
]
const TEXTS = ['ß', 'İ', '𝟘', '\u202e', '\ud800', '\u0000', 'é', 'e\u0301', '👩‍👩‍👧', '\\', '"']

/** The gateway takes 200 levels and 32 KB; the longest of the texts takes 18 bytes. */
const MAX_NESTED = 190
const MAX_REPEATED = 1_700

const KINDS: readonly Kind[] = [
  // A handful of its names are new in every event.
  (random) => members(random, 1 + whole(random, 30), () => `k${whole(random, 1e9).toString(36)}`),
  (random) => members(random, 1 + whole(random, 8), () => pick(random, NAMES)),
  (random) => `"wide":[${Array.from({ length: whole(random, 600) }, () => value(random)).join()}]`,
  (random) => nested(`"deep":${value(random)}`, 1 + whole(random, MAX_NESTED)),
  (random) => `"long":${JSON.stringify(pick(random, TEXTS).repeat(whole(random, MAX_REPEATED)))}`,
  (random) => `${JSON.stringify(`${pick(random, TEXTS)}${whole(random, 50)}`)}:${value(random)}`,
  // The same keys with a type that is never the same.
  (random) => `"price":${value(random)},"seat":${value(random)},"hall":${value(random)}`,
  (random) => `"user":"${whole(random, 1e9)}","hall":"${whole(random, 3)}"`,
]

/** A track event as JSON text; one in twenty has a name that no other has. */
export function hostileEvent(random: Random): string {
  const name = random() < 0.05 ? `Event ${whole(random, 1e9)}` : `Event ${whole(random, 40)} ${pick(random, TEXTS)}`
  return `{"type":"track","userId":"u-${whole(random, 1_000)}","event":${JSON.stringify(name)},"properties":{${pick(random, KINDS)(random)}}}`
}

function members(random: Random, count: number, name: () => string): string {
  return Array.from({ length: count }, () => `${JSON.stringify(name())}:${value(random)}`).join()
}

function nested(inside: string, depth: number): string {
  return `${'"d":{'.repeat(depth)}${inside}${'}'.repeat(depth)}`
}

function value(random: Random): string {
  const kinds = ['null', 'true', `${whole(random, 1e6)}`, '-0.5e-3', '1e400', '[]', '{}', '[[1],{"x":2}]']
  return random() < 0.4 ? JSON.stringify(`${pick(random, TEXTS)}${whole(random, 100)}`) : pick(random, kinds)
}

function whole(random: Random, below: number): number {
  return Math.floor(random() * below)
}

function pick<T>(random: Random, from: readonly T[]): T {
  return from[whole(random, from.length)]!
}
