/**
 * `node:http` without Node's own fetch, which nothing here uses. An import of `node:http` loads it, because Node reads every export of
 * an imported module, and one of them is the `WebSocket` of that fetch.
 */
export const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http')
