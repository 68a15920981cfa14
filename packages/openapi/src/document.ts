import type { TSchema } from 'typebox'
import type { Access, AnswerDescription, DescribedRoute, RouteDescription } from './route-description.ts'
import { Type } from './type.ts'

export interface About {
  readonly title: string
  readonly version: string
  readonly description: string
  /** Names of groups in the order in which they are shown, and what each is about. Others follow. */
  readonly tags: Readonly<Record<string, string>>
}

type Json = Record<string, unknown>

/**
 * The OpenAPI 3.1 document of some routes.
 *
 * @throws Error if two schemas have one name.
 * @see contracts/control-plane.md §10 [D720]
 */
export function openApiDocument({ tags, ...info }: About, routes: readonly DescribedRoute[]): Json {
  const components = new Components()
  const paths: Record<string, Json> = {}
  const order = [...new Set([...Object.keys(tags), ...routes.map(({ description }) => description.tag)])]
  const place = ({ description }: DescribedRoute) => order.indexOf(description.tag)
  for (const { method, path, description } of routes.toSorted((a, b) => place(a) - place(b))) {
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation(method, path, description, components) }
  }
  return {
    openapi: '3.1.1',
    info: { ...info, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: '/' }],
    tags: order.map((name) => ({ name, ...(tags[name] === undefined ? {} : { description: tags[name] }) })),
    paths,
    components: { schemas: components.schemas, securitySchemes: SECURITY_SCHEMES },
  }
}

/** Schemas with a name stand here once; wherever they are used a reference stands for them. */
class Components {
  readonly schemas: Record<string, Json> = {}

  place(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((item) => this.place(item))
    if (typeof schema !== 'object' || schema === null) return schema
    const { $id: name, ...rest } = schema as Json
    const placed = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, this.place(value)]))
    if (typeof name !== 'string') return placed
    const known = this.schemas[name]
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(placed)) {
      throw new Error(`Two schemas are named ${name}`)
    }
    this.schemas[name] = placed
    return { $ref: `#/components/schemas/${name}` }
  }
}

function operation(method: string, path: string, route: RouteDescription, components: Components): Json {
  const { tag, summary, details, access, role, body, answers } = route
  const notes = [details, role === undefined ? undefined : `Least role: ${role}.`].filter((note) => note !== undefined)
  const inPath = Object.fromEntries([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name!, Type.String()]))
  const parameters = [
    ...parametersIn('path', { ...inPath, ...route.pathParameters }, components),
    ...parametersIn('query', route.query, components),
    ...parametersIn('header', route.requestHeaders, components),
  ]
  return {
    tags: [tag],
    summary,
    ...(notes.length === 0 ? {} : { description: notes.join(' ') }),
    operationId: operationId(method, path),
    security: SECURITY[access],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: body.isOptional !== true,
            content: { 'application/json': { schema: components.place(body.schema), example: body.example } },
          },
        }),
    responses: Object.fromEntries(
      Object.entries(answers).map(([status, each]) => [status, response(each, components)]),
    ),
  }
}

function parametersIn(place: string, schemas: Readonly<Record<string, TSchema>> = {}, components: Components): Json[] {
  return Object.entries(schemas).map(([name, each]) => {
    const { description, ...schema } = components.place(each) as Json
    return {
      name,
      in: place,
      ...(place === 'path' ? { required: true } : {}),
      ...(description === undefined ? {} : { description }),
      schema,
    }
  })
}

function response(answer: AnswerDescription, components: Components): Json {
  const { text, schema, mediaType = 'application/json', examples = {}, headers } = answer
  const shown = Object.entries(examples).map(([name, value], n) => [exampleName(name, n), { summary: name, value }])
  return {
    description: text,
    ...(headers === undefined
      ? {}
      : {
          headers: Object.fromEntries(
            parametersIn('header', headers, components).map(({ name, in: _, ...header }) => [name, header]),
          ),
        }),
    ...(schema === undefined
      ? {}
      : {
          content: {
            [mediaType]: {
              schema: components.place(schema),
              ...(shown.length === 0 ? {} : { examples: Object.fromEntries(shown) }),
            },
          },
        }),
  }
}

/** Of the letters that the format allows. */
function exampleName(text: string, n: number): string {
  const word = text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
  return word === '' ? `example-${n + 1}` : word
}

/** `getSourcesById` of GET /v2/sources/{id} */
function operationId(method: string, path: string): string {
  const words = path
    .replace(/^\/v2\//, '/')
    .split(/[/.-]/)
    .filter((word) => word !== '')
  const name = words.map((word) => (word.startsWith('{') ? `By${capital(word.slice(1, -1))}` : capital(word)))
  return `${method.toLowerCase()}${name.join('') || 'Root'}`
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

/** Both halves together. */
const SESSION = { sessionCookie: [], sessionHalf: [] }

const SECURITY: Record<Access, readonly object[]> = {
  token: [{ token: [] }, { emailAndToken: [] }, SESSION],
  'write key': [{ writeKey: [] }],
  'write key in query': [{ writeKeyInQuery: [] }],
  'metrics token': [{}, { metricsToken: [] }],
  admin: [{ admin: [] }, { token: [] }, SESSION],
  none: [],
}

const SECURITY_SCHEMES = {
  token: { type: 'http', scheme: 'bearer', description: 'A personal access token.' },
  emailAndToken: {
    type: 'http',
    scheme: 'basic',
    description: 'E-mail address and personal access token; the e-mail may be left empty.',
  },
  sessionCookie: {
    type: 'apiKey',
    in: 'cookie',
    name: 'mr_session_8080',
    description: 'One half of a session of the dashboard; the number is the port of this server.',
  },
  sessionHalf: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Millrace-Session',
    description: 'The other half of a session of the dashboard.',
  },
  writeKey: {
    type: 'http',
    scheme: 'basic',
    description: 'The write key of a source as user name, any password.',
  },
  writeKeyInQuery: { type: 'apiKey', in: 'query', name: 'writeKey', description: 'The write key of a source.' },
  admin: {
    type: 'http',
    scheme: 'basic',
    description: 'SERVICE_ADMIN_USER and SERVICE_ADMIN_PASSWORD.',
  },
  metricsToken: { type: 'http', scheme: 'bearer', description: 'MILLRACE_METRICS_TOKEN, where it is set.' },
}
