/** Normalises a userId or anonymousId for comparison; undefined if there is none (steps 2 and 3). */
export function normalizedId(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'string') return undefined
  const id = PLAIN_ID.test(value) ? value : value.replace(CONTROL_CHARACTERS, '').trim()
  return id === '' ? undefined : id
}

const PLAIN_ID = /^[!-~]+$/
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f]/g
