import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { GroupCommit } from './group-commit.ts'

/**
 * The limit of acceptance: `node:http`, `JSON.parse`, an append with group commit and fsync, `OK`.
 *
 * @param onStored is given what was parsed once it is on disk.
 */
export function accept(file: string, onStored: (value: unknown) => void): void {
  const log = new GroupCommit(file)
  const server = createServer((request, response) => {
    readBody(request, (body) => {
      const value: unknown = JSON.parse(body.toString())
      log.append(body, () => {
        response.end('OK')
        onStored(value)
      })
    })
  })
  server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
}

function readBody(request: IncomingMessage, onEnd: (body: Buffer) => void): void {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => onEnd(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
}
