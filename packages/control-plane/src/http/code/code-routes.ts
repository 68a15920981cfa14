import { badRequest } from '@millrace/openapi'
import type { JsonObject } from '@millrace/protocol'
import { untilGone } from '@millrace/std'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { ControlPlane } from '../../control-plane.ts'
import type { Author } from '../../people/author.ts'
import { entityTag, type Resource } from '../../resources/resource.ts'
import type { Condition } from '../../resources/resource-service.ts'
import { withoutEnvelope } from '../../resources/written-fields.ts'
import type { CodeVersion, CodeVersionHeader } from '../../transformations/code.ts'
import { versionHeaderJson, versionJson } from '../../transformations/code-history.ts'
import { logLineJson } from '../../transformations/log-lines.ts'
import { testsJson } from '../../transformations/transformation.ts'
import type { SaveOptions } from '../../transformations/transformations.ts'
import { conditionOf } from '../resources/resource-request.ts'
import { searchedPage } from '../searched-page.ts'
import {
  LIBRARIES_IN_WORDS,
  LOGS_IN_WORDS,
  STORED_TESTS_IN_WORDS,
  TEMPLATES_IN_WORDS,
  TEST_IN_WORDS,
  TRANSFORMATIONS_IN_WORDS,
} from './code.openapi.ts'
import { type CodeInWords, codeDescriptions } from './code-descriptions.ts'

const MAX_TEST_BODY_BYTES = 4_000 * 1024

/** Transformations, libraries and their test runs. @see contracts/transformations.md §9 */
export function codeRoutes(controlPlane: ControlPlane): FastifyPluginAsync {
  const { transformations, libraries } = controlPlane
  return async (app) => {
    addRoutes(app, {
      words: TRANSFORMATIONS_IN_WORDS,
      service: transformations,
      publishedId: (id) => controlPlane.snapshot().transformations.get(id)?.published?.versionId,
      json: () => (transformation) => transformations.json(transformation),
    })
    addRoutes(app, {
      words: LIBRARIES_IN_WORDS,
      service: libraries,
      publishedId: (id) => controlPlane.snapshot().libraries.get(id)?.published?.id,
      json: () => libraries.json(),
    })
    addTestRoutes(app, controlPlane)
    app.get('/transformations/:id/logs', { config: { describe: LOGS_IN_WORDS } }, async (request) => {
      const { id } = transformations.get(parameter(request, 'id'))
      return { logs: (await controlPlane.logLines.of(id)).map(logLineJson) }
    })
    app.get('/transformation-templates', { config: { describe: TEMPLATES_IN_WORDS } }, async ({ query }) => {
      const { codeTemplates } = controlPlane.options
      const { items, paging } = searchedPage(
        codeTemplates,
        '/v2/transformation-templates',
        query as Record<string, unknown>,
      )
      const templates = items.map(({ id, name, description, language, code }) => {
        return { id, name, description, language, code }
      })
      return { transformationTemplates: templates, paging }
    })
  }
}

type Code = Pick<Resource, 'id' | 'revision'>

/** The common interface of transformations and libraries. */
interface CodeService<T extends Code> {
  readonly history: {
    list(ownerId: string): Promise<readonly CodeVersionHeader[]>
    get(ownerId: string, id: string): Promise<CodeVersion>
  }
  list(): readonly T[]
  get(id: string): T
  create(by: Author, written: JsonObject, options: SaveOptions): Promise<T>
  replace(by: Author, id: string, written: JsonObject, options: SaveOptions): Promise<T>
  publish(by: Author, id: string, versionId: string, condition: Condition): Promise<T>
  remove(by: Author, id: string, condition: Condition): Promise<void>
}

interface CodeFace<T extends Code> {
  readonly words: CodeInWords
  readonly service: CodeService<T>
  readonly publishedId: (id: string) => string | undefined
  /** Created once per answer. */
  readonly json: () => (resource: T) => JsonObject
}

function addRoutes<T extends Code>(app: FastifyInstance, face: CodeFace<T>): void {
  const { words, service, publishedId } = face
  const { name, plural } = words
  const described = codeDescriptions(words)
  app.get(`/${plural}`, { config: { describe: described.list } }, async ({ query }) => {
    const { items, paging } = searchedPage(service.list(), `/v2/${plural}`, query as Record<string, unknown>)
    return { [plural]: items.map(face.json()), paging }
  })
  app.post(`/${plural}`, { config: { describe: described.create } }, async (request, reply) =>
    answer(face, reply, await service.create(request.author, writtenOf(request, name), saveOptionsOf(request))),
  )
  app.get(`/${plural}/:id`, { config: { describe: described.get } }, async (request, reply) =>
    answer(face, reply, service.get(parameter(request, 'id'))),
  )
  app.put(`/${plural}/:id`, { config: { describe: described.replace } }, async (request, reply) => {
    const id = parameter(request, 'id')
    return answer(
      face,
      reply,
      await service.replace(request.author, id, writtenOf(request, name), saveOptionsOf(request)),
    )
  })
  app.delete(`/${plural}/:id`, { config: { describe: described.remove } }, async (request, reply) => {
    await service.remove(request.author, parameter(request, 'id'), conditionOf(request))
    return reply.code(204).send()
  })
  app.get(`/${plural}/:id/versions`, { config: { describe: described.versions } }, async (request) => {
    const id = parameter(request, 'id')
    const versions = await service.history.list(id)
    return { versions: versions.map((version) => versionHeaderJson(version, publishedId(id))) }
  })
  app.get(`/${plural}/:id/versions/:versionId`, { config: { describe: described.version } }, async (request) => {
    const id = parameter(request, 'id')
    const version = await service.history.get(id, parameter(request, 'versionId'))
    return { version: versionJson(version, publishedId(id)) }
  })
  app.post(
    `/${plural}/:id/versions/:versionId/publish`,
    { config: { body: 'ignored', describe: described.publish } },
    async (request, reply) => {
      const [id, versionId] = [parameter(request, 'id'), parameter(request, 'versionId')]
      return answer(face, reply, await service.publish(request.author, id, versionId, conditionOf(request)))
    },
  )
}

function addTestRoutes(app: FastifyInstance, { transformations, codeTests }: ControlPlane): void {
  app.post(
    '/transformations/test',
    { config: { maxBodyBytes: MAX_TEST_BODY_BYTES, describe: TEST_IN_WORDS } },
    async ({ body }, reply) => codeTests.run(body as JsonObject, untilGone(reply.raw)),
  )
  app.get('/transformations/:id/tests', { config: { describe: STORED_TESTS_IN_WORDS.get } }, async (request, reply) => {
    const transformation = transformations.get(parameter(request, 'id'))
    reply.header('ETag', entityTag(transformation))
    return { tests: testsJson(transformation.tests) }
  })
  app.put('/transformations/:id/tests', { config: { describe: STORED_TESTS_IN_WORDS.put } }, async (request, reply) => {
    const { author, body } = request
    const id = parameter(request, 'id')
    const transformation = await transformations.putTests(author, id, body as JsonObject, conditionOf(request))
    reply.header('ETag', entityTag(transformation))
    return { tests: testsJson(transformation.tests) }
  })
  app.post(
    '/transformations/:id/tests/run',
    { config: { body: 'optional', describe: STORED_TESTS_IN_WORDS.run } },
    async (request, reply) =>
      codeTests.runStored(parameter(request, 'id'), request.body as JsonObject, untilGone(reply.raw)),
  )
}

function answer<T extends Code>({ words, json }: CodeFace<T>, reply: FastifyReply, resource: T): JsonObject {
  reply.header('ETag', entityTag(resource))
  return { [words.name]: json()(resource) }
}

function parameter({ params }: FastifyRequest, name: 'id' | 'versionId'): string {
  return (params as Record<string, string>)[name]!
}

function writtenOf({ body }: FastifyRequest, envelope: string): JsonObject {
  return withoutEnvelope(body as JsonObject, envelope)
}

function saveOptionsOf(request: FastifyRequest): SaveOptions {
  const { publish = 'false' } = request.query as Record<string, unknown>
  if (publish !== 'true' && publish !== 'false') throw badRequest('Invalid publish')
  return { ...conditionOf(request), publish: publish === 'true' }
}
