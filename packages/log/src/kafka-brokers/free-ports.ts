import { createServer } from 'node:net'

/** Below the ports that systems give to outgoing connections: a broker gets its port back when it starts again. */
const FIRST = 12_000
const LAST = 30_000
const ATTEMPTS = 200

/** Ports of an address that no program listens on now. */
export async function freePorts(host: string, count: number): Promise<number[]> {
  const found = new Set<number>()
  for (let attempt = 0; attempt < ATTEMPTS && found.size < count; attempt++) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST))
    if (!found.has(port) && (await isFree(host, port))) found.add(port)
  }
  if (found.size < count) throw new Error(`no ${count} free ports at ${host}`)
  return [...found]
}

function isFree(host: string, port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)))
  })
}
