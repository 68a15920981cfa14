import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Chromium } from '../sdk/chromium.ts'
import { bundleOfCode } from './web-clients.ts'

/** A page of its own origin with nothing but the given code, in a Chromium of its own. */
export async function openPage(
  code: string,
  language: string,
): Promise<AsyncDisposable & { readonly faults: string[] }> {
  const script = language === 'js' ? await bundleOfCode(code) : ''
  const server = createServer((request, response) => {
    const isScript = request.url === '/script'
    response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html')
    response.end(
      isScript
        ? script
        : `<!doctype html><title>Seats</title>${language === 'js' ? '<script src="/script"></script>' : code}`,
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const chromium = await Chromium.open()
  const faults: string[] = []
  chromium.context.on('weberror', (error) => faults.push(error.error().message))
  await chromium.page(`http://localhost:${(server.address() as AddressInfo).port}/`)
  return {
    faults,
    async [Symbol.asyncDispose]() {
      await chromium[Symbol.asyncDispose]()
      server.close()
    },
  }
}
