import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

/** One request and its answer, as a test client saw them. */
export interface Exchange {
  readonly method: string
  /** With the query. */
  readonly path: string
  /** As it was sent. */
  readonly requestBody?: unknown
  readonly status: number
  /** The text of the answer. */
  readonly text: string
}

// biome-ignore lint/suspicious/noExplicitAny: a document is JSON of a known form
type Document = any

const known = new Map<string, Conformance>()

/** Of one document: compiled once, however many servers of a test file have it. */
export function conformanceOf(document: object): Conformance {
  const text = JSON.stringify(document)
  const conformance = known.get(text) ?? new Conformance(JSON.parse(text))
  known.set(text, conformance)
  return conformance
}

/**
 * Whether requests and answers are what the OpenAPI document says: every answer has a status that its route names and
 * the form given for it, and a request that was carried out had the form given for its body and for what it asked in its
 * query. Other words of a query are ignored by the routes, and so here.
 *
 * @see contracts/control-plane.md §10 [D720]
 */
export class Conformance {
  readonly #document: Document
  readonly #ajv = new Ajv2020({ strict: false, validateSchema: false, validateFormats: false, allErrors: true })
  /** What a query says is text: `7` may be a number. */
  readonly #ajvOfTexts = new Ajv2020({ strict: false, coerceTypes: true, validateFormats: false, allErrors: true })
  readonly #queries = new Map<string, ValidateFunction>()
  readonly #paths: { readonly pattern: RegExp; readonly path: string }[]

  constructor(document: Document) {
    this.#document = document
    this.#ajv.addSchema(document, 'openapi')
    this.#paths = Object.keys(document.paths)
      // `/sources/mine` before `/sources/{id}`
      .toSorted((a, b) => a.split('{').length - b.split('{').length)
      .map((path) => ({
        path,
        pattern: new RegExp(
          `^${path
            .split(/\{\w+\}/)
            .map(RegExp.escape)
            .join('[^/]+')}$`,
        ),
      }))
  }

  /** @throws Error that tells how an exchange below /v2, or with the Test API, breaks the document. */
  check(exchange: Exchange): void {
    const { method, path, status, text } = exchange
    const [asked = '', query = ''] = path.split('?', 2)
    // The server ignores one slash at the end (contracts/ingest.md §1); routes on their own do not find the path.
    const url = status === 404 ? asked : asked.replace(/\/$/, '')
    if (!/^\/(v2|v0|destination-definitions)(\/|$)/.test(url)) return
    const fault = this.#fault({ ...exchange, path: url, query })
    if (fault === undefined) return
    throw new Error(`${method} ${path} → ${status} is not what /openapi.json says: ${fault}\n${text.slice(0, 2_000)}`)
  }

  #fault({ method, path, query, requestBody, status, text }: Exchange & { query: string }): string | undefined {
    const route = this.#paths.find(({ pattern }) => pattern.test(path))?.path
    const verb = method === 'HEAD' ? 'get' : method.toLowerCase()
    const operation = route === undefined ? undefined : this.#document.paths[route][verb]
    if (operation === undefined) {
      if (status !== 404 && status !== 405) return 'there is no such route; give it a `config.describe`'
      const form = path.startsWith('/v2') ? 'Error' : 'Message'
      return method === 'HEAD' ? undefined : this.#faultOf(`/components/schemas/${form}`, text)
    }
    const place = `/paths/${route!.replaceAll('~', '~0').replaceAll('/', '~1')}/${verb}`
    const answer = operation.responses[status]
    // A stream has no head to answer.
    if (answer === undefined && method === 'HEAD' && status === 405) return undefined
    if (answer === undefined) return `the route has no answer ${status}`
    if (method !== 'HEAD') {
      if (answer.content === undefined && text !== '') return `an answer ${status} has no body`
      if (answer.content?.['application/json'] !== undefined) {
        const fault = this.#faultOf(`${place}/responses/${status}/content/application~1json/schema`, text)
        if (fault !== undefined) return fault
      }
    }
    if (status >= 300) return undefined
    const queryFault = this.#faultOfQuery(place, operation, query)
    if (queryFault !== undefined) return `the request was carried out, but of its query ${queryFault}`
    const sent = textOf(requestBody)
    if (sent === undefined || operation.requestBody === undefined) return undefined
    const fault = this.#faultOf(`${place}/requestBody/content/application~1json/schema`, sent)
    return fault && `the request was carried out, but ${fault}`
  }

  #faultOfQuery(place: string, operation: Document, query: string): string | undefined {
    let validate = this.#queries.get(place)
    if (validate === undefined) {
      const parameters: Document[] = (operation.parameters ?? []).filter((each: Document) => each.in === 'query')
      const properties = Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]))
      validate = this.#ajvOfTexts.compile({ type: 'object', properties, components: this.#document.components })
      this.#queries.set(place, validate)
    }
    // An empty text stands for none.
    const said = [...new URLSearchParams(query)].filter(([, value]) => value !== '')
    return validate(Object.fromEntries(said)) ? undefined : this.#ajv.errorsText(validate.errors, { dataVar: 'it' })
  }

  #faultOf(pointer: string, text: string): string | undefined {
    const validate = this.#ajv.getSchema(`openapi#${escaped(pointer)}`) as ValidateFunction
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {
      return 'it is not JSON'
    }
    return validate(value) ? undefined : this.#ajv.errorsText(validate.errors, { dataVar: 'it' })
  }
}

/** Of a JSON pointer, what cannot stand in a URI as it is. */
function escaped(pointer: string): string {
  return pointer.split('/').map(encodeURIComponent).join('/')
}

/** Undefined for nothing, and for bytes, which may be packed. */
function textOf(body: unknown): string | undefined {
  if (body === undefined || body === null || body === '' || ArrayBuffer.isView(body)) return undefined
  return typeof body === 'string' ? body : JSON.stringify(body)
}
