/**
 * `node:http`, required. An import would evaluate each of its exports, one of which is the `WebSocket` of Node's own fetch: 15 MB and
 * 20 ms that a start has no use for.
 */
export const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http')
