import type { FastifyInstance } from 'fastify'
import type { DescribedRoute, RouteDescription } from './route-description.ts'

interface Registered {
  readonly method: string
  readonly path: string
  /** Of the route's options, which hooks that run later may still complete. */
  readonly config: () => { describe?: RouteDescription } | undefined
}

/** Every route that a server answers, with its description. HEAD and OPTIONS follow from GET and are left out. */
export class RouteBook {
  readonly #registered: Registered[] = []
  readonly #others: DescribedRoute[] = []

  /** Notes what is registered from now on. */
  watch(app: FastifyInstance): void {
    app.addHook('onRoute', (route) => {
      for (const method of [route.method].flat()) {
        if (method === 'HEAD' || method === 'OPTIONS') continue
        this.#registered.push({ method, path: withBraces(route.url), config: () => route.config })
      }
    })
  }

  /** Routes that no Fastify instance serves. */
  add(routes: readonly DescribedRoute[]): void {
    this.#others.push(...routes)
  }

  described(): DescribedRoute[] {
    const ours = this.#registered.flatMap(({ method, path, config }) => {
      const description = config()?.describe
      return description === undefined ? [] : [{ method, path: description.path ?? path, description }]
    })
    return [...this.#others, ...ours]
  }

  /** `POST /v2/sources/{id}`, of every route that was registered since `watch`. */
  registered(): string[] {
    return this.#registered.map(({ method, path }) => `${method} ${path}`)
  }

  /** Those of them that nothing tells of. */
  undescribed(): string[] {
    return this.#registered
      .filter(({ config }) => config()?.describe === undefined)
      .map(({ method, path }) => `${method} ${path}`)
  }
}

function withBraces(url: string): string {
  return url.replace(/:(\w+)/g, '{$1}')
}
