// Exits with 0 if the server of this machine is ready: node is-ready.mjs [port]
const port = process.argv[2] ?? process.env.MILLRACE_PORT ?? '8080'
const answer = await fetch(`http://127.0.0.1:${port}/ready`, { signal: AbortSignal.timeout(4_000) }).catch(
  () => undefined,
)
process.exit(answer?.ok ? 0 : 1)
