import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'

const TYPES: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' }

/** Serves the files of an app, as a web server would. */
export class AppServer implements AsyncDisposable {
  /** Sent with every file from now on. */
  policy: string | undefined
  private readonly server: Server

  static async open(folder: string): Promise<AppServer> {
    const app = new AppServer(folder)
    await new Promise<void>((resolve) => app.server.listen(0, '127.0.0.1', resolve))
    return app
  }

  private constructor(folder: string) {
    this.server = createServer(async (request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://app')
      const file = path.join(folder, pathname === '/' ? 'index.html' : path.normalize(pathname))
      try {
        const body = await readFile(file)
        response.setHeader('Content-Type', TYPES[path.extname(file)] ?? 'application/octet-stream')
        if (this.policy !== undefined) response.setHeader('Content-Security-Policy', this.policy)
        response.end(body)
      } catch {
        response.writeHead(404).end()
      }
    })
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections()
    await new Promise<void>((resolve) => this.server.close(() => resolve()))
  }
}
