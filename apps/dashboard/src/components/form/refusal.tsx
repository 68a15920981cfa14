import { ApiError } from '../../api/requests/failure.ts'
import { nextTryMs } from '../../api/requests/retry.ts'
import { pageTexts } from '../../texts.ts'
import styles from './refusal.module.css'

/** The error of a refused write for one field, by its name or JSON pointer; null if it concerns none of them. */
export interface FieldRefusal {
  readonly field: string
  readonly text: string
}

/**
 * The field that the server refused: the target of `details.path`, else the field whose name begins the text (`name is
 * too long`).
 *
 * @param fields names of the fields in the form.
 */
export function fieldRefusal(error: unknown, fields: readonly string[]): FieldRefusal | undefined {
  if (!(error instanceof ApiError) || error.kind !== 'refused') return undefined
  const { path, message } = error.details ?? {}
  if (typeof path === 'string') {
    const pointed = path.split('/').filter((part) => part !== '' && part !== 'config')
    const field = fields.find((name) => name === pointed[0])
    if (field === undefined) return undefined
    return { field, text: `${placeIn(pointed.slice(1))}${typeof message === 'string' ? message : error.message}` }
  }
  const field = fields.find((name) => error.message.startsWith(`${name} `))
  return field === undefined ? undefined : { field, text: error.message }
}

/** Which element of a list is wrong: `[0].action `. Members of other fields have controls of their own. */
function placeIn(parts: readonly string[]): string {
  if (parts[0] === undefined || !IS_POSITION.test(parts[0])) return ''
  return `${parts.map((part) => (IS_POSITION.test(part) ? `[${part}]` : `.${part}`)).join('')} `
}

const IS_POSITION = /^\d+$/

interface RefusalProps {
  /** Error of the write; null if there is none. */
  readonly error: Error | null
  /** Names of fields that show their own error. */
  readonly fields?: readonly string[]
}

/** Above a form: why saving failed, unless a field shows it. The input stays. */
export function Refusal({ error, fields = [] }: RefusalProps) {
  if (error === null || fieldRefusal(error, fields) !== undefined) return null
  return (
    <p className={styles.refusal} role="alert">
      {textOf(error)}
    </p>
  )
}

function textOf(error: Error): string {
  if (!(error instanceof ApiError)) return pageTexts.panelFailed
  switch (error.kind) {
    // Only reads are retried automatically.
    case 'connection':
      return pageTexts.requestUnanswered
    case 'rate':
      return pageTexts.tryAgainIn(secondsToWait(error))
    case 'session':
      return pageTexts.sessionEnded
    case 'server':
      return pageTexts.serverFailed(error.status, error.requestId)
    case 'changed':
      return pageTexts.changedInTheMeantime
    default:
      return refusedText(error)
  }
}

/** Seconds until the server takes a request again. */
export function secondsToWait(error: ApiError): number {
  return Math.ceil((nextTryMs(error) ?? 0) / 1000)
}

function refusedText(error: ApiError): string {
  const { path, message } = error.details ?? {}
  if (typeof message !== 'string') return error.message
  return `${error.message}: ${typeof path === 'string' && path !== '' ? `${path} ` : ''}${message}`
}
