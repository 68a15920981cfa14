import path from 'node:path'
import { expect, test } from 'vitest'
import { printedCommands } from './printed-commands.ts'

const server = { baseUrl: 'http://127.0.0.1:8080', dataDir: './data', host: '127.0.0.1' }
const elsewhere = path.resolve('/srv/mill race')

test.each([
  ['the default address', server, 'npm run millrace -- trace hello-1', 'npm run millrace -- doctor'],
  [
    'another port',
    { ...server, baseUrl: 'http://127.0.0.1:9090' },
    'npm run millrace -- trace hello-1 --url http://127.0.0.1:9090',
    'MILLRACE_PORT=9090 npm run millrace -- doctor',
  ],
  [
    'an IPv6 address',
    { ...server, baseUrl: 'http://[::1]:8080', host: '::1' },
    "npm run millrace -- trace hello-1 --url 'http://[::1]:8080'",
    'MILLRACE_HOST=::1 npm run millrace -- doctor',
  ],
  [
    'another data folder',
    { ...server, dataDir: '/srv/mill race' },
    `MILLRACE_DATA_DIR='${elsewhere}' npm run millrace -- trace hello-1`,
    `MILLRACE_DATA_DIR='${elsewhere}' npm run millrace -- doctor`,
  ],
])('a server at %s prints commands that name what a shell lacks, and no more', (_, at, remote, local) => {
  const commands = printedCommands(at)
  expect([commands.remote('trace', 'hello-1'), commands.local('doctor')]).toEqual([remote, local])
})
