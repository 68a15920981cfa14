import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { build } from 'esbuild'

/** Serves one page at every address: no more than a script of this folder, bundled. */
export class PageServer implements AsyncDisposable {
  private readonly server: Server

  static async open(entry: string): Promise<PageServer> {
    const { outputFiles } = await build({
      entryPoints: [path.join(import.meta.dirname, entry)],
      bundle: true,
      format: 'iife',
      write: false,
    })
    const html = `<!doctype html><meta charset="utf-8"><title>Shop</title><script>${outputFiles[0]!.text}</script>`
    const server = createServer((_request, response) => void response.setHeader('Content-Type', 'text/html').end(html))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new PageServer(server)
  }

  private constructor(server: Server) {
    this.server = server
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections()
    await new Promise<void>((resolve) => this.server.close(() => resolve()))
  }
}
