import { createHash } from 'node:crypto'
import { code, example, html, type Markup, prose, raw } from './docs-markup.ts'
import { STYLE } from './docs-style.ts'
import { type Member, membersOf } from './schema-members.ts'

// biome-ignore lint/suspicious/noExplicitAny: an OpenAPI document is JSON of a known form
type Json = any

const METHODS = ['get', 'post', 'put', 'patch', 'delete']
const ACCESS: Readonly<Record<string, string>> = {
  token: 'Access token',
  writeKey: 'Write key',
  writeKeyInQuery: 'Write key in the query',
  metricsToken: 'Metrics token, where one is set',
}

/**
 * An OpenAPI document as a page to read: one file, without scripts, that loads nothing.
 *
 * @returns the page, and the Content-Security-Policy that lets it do what it does and no more.
 */
export function docsPage(document: object): { html: string; policy: string } {
  const { info, tags, paths, components } = document as Json
  const routes = Object.entries(paths as Json).flatMap(([path, operations]) =>
    METHODS.flatMap((method) => {
      const operation = (operations as Json)[method]
      return operation === undefined ? [] : [{ path, method, operation }]
    }),
  )
  const groups = (tags as { name: string; description?: string }[])
    .map((tag) => ({ ...tag, routes: routes.filter(({ operation }) => operation.tags[0] === tag.name) }))
    .filter(({ routes }) => routes.length > 0)
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${info.title} API ${info.version}</title>
<style>${raw(STYLE)}</style>
</head>
<body>
<header><h1>${info.title} API <small>${info.version}</small></h1><a href="/openapi.json">openapi.json</a></header>
<div class="columns">
<nav aria-label="Routes"><details open><summary>Routes</summary>${groups.map(navigation)}</details></nav>
<main>
<section class="about">${prose(info.description)}</section>
${groups.map((group) => section(group, components.schemas))}
</main>
</div>
</body>
</html>
`
  const styleHash = createHash('sha256').update(STYLE).digest('base64')
  return {
    html: page.text,
    policy: `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  }
}

interface Route {
  readonly path: string
  readonly method: string
  readonly operation: Json
}

interface Group {
  readonly name: string
  readonly description?: string
  readonly routes: readonly Route[]
}

function navigation({ name, routes }: Group): Markup {
  const links = routes.map(
    ({ path, method, operation }) =>
      html`<li><a href="#${operation.operationId}"><b class="${method}">${method}</b> ${breakable(path)}</a></li>`,
  )
  return html`<h2><a href="#${anchor(name)}">${name}</a></h2><ul>${links}</ul>`
}

function section({ name, description = '', routes }: Group, schemas: Json): Markup {
  return html`<section id="${anchor(name)}"><h2>${name}</h2>${prose(description)}
${routes.map((route) => article(route, schemas))}</section>`
}

// The fragment names an element inside the details, so that following a link opens them.
function article({ path, method, operation }: Route, schemas: Json): Markup {
  const { operationId, summary, description = '', security, parameters = [], requestBody, responses } = operation
  const access = security.flatMap((each: object) => Object.keys(each)).map((name: string) => ACCESS[name])
  const shown = [...new Set(access.filter((text: string | undefined) => text !== undefined))].join(', ')
  const answers = Object.entries(responses).map(([status, each]) => answer(status, each, schemas))
  return html`<details class="route"><summary><b class="${method}">${method}</b> <code>${breakable(path)}</code> <span>${summary}</span></summary>
<div id="${operationId}">${prose(description)}
<p class="access">${shown === '' ? 'No authentication.' : html`Needs: ${shown.toLowerCase()}.`}</p>
${parameters.length === 0 ? '' : html`<h3>Parameters</h3>${table(parameters.map((each: Json) => parameter(each, schemas)))}`}
${requestBody === undefined ? '' : html`<h3>Body${requestBody.required ? '' : ' (optional)'}</h3>${content(requestBody.content, schemas)}`}
<h3>Answers</h3>${answers}</div></details>
`
}

function answer(status: string, { description, content: shown, headers = {} }: Json, schemas: Json): Markup {
  const isGood = Number(status) < 400
  const names = Object.keys(headers).map((name, i) => html`${i > 0 ? ', ' : ''}${code(name)}`)
  const head = names.length === 0 ? '' : html` <small>Headers: ${names}</small>`
  const title = html`<b class="${isGood ? 'good' : 'bad'}">${status}</b> ${prose(description, 'span')}${head}`
  if (shown === undefined || !isGood) return html`<div class="answer">${title}</div>`
  return html`<div class="answer">${title}</div>${content(shown, schemas)}`
}

function content(byType: Json, schemas: Json): Markup {
  const [[type, { schema, example: one, examples = {} }]] = Object.entries(byType) as [[string, Json]]
  const shown = one ?? (Object.values(examples)[0] as Json)?.value
  const members = membersOf(schema, schemas)
  return html`${shown === undefined ? html`<p>${code(type)}</p>` : example(shown)}
${members.length === 0 ? '' : html`<details class="members"><summary>Members</summary>${table(members)}</details>`}`
}

function parameter({ name, in: place, description, schema }: Json, schemas: Json): Member {
  const [member] = membersOf({ type: 'object', properties: { [name]: { description, ...schema } } }, schemas)
  return { ...member!, type: `${member!.type}, in ${place}`, isNeeded: place === 'path' }
}

function table(members: readonly Member[]): Markup {
  const rows = members.map(
    ({ name, type, rule, description, isNeeded }) =>
      html`<tr><th scope="row"><code>${breakable(name)}</code>${isNeeded ? html` <i title="required">*</i>` : ''}</th>
<td>${type}${rule === '' ? '' : html`<br><small>${rule}</small>`}</td><td>${prose(description, 'span')}</td></tr>`,
  )
  return html`<div class="table"><table>${rows}</table></div>`
}

function anchor(name: string): string {
  return name.toLowerCase().replaceAll(' ', '-')
}

/** A path or name that may go over lines at its joints. */
function breakable(text: string): Markup {
  return html`${text.split(/(?<=[/.])/).map((part) => html`${part}<wbr>`)}`
}
