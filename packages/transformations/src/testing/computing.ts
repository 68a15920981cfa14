let loopsPerMs: number | undefined

/** Statements of user code that use a processor for about this long, however busy this machine is. */
export function computing(ms: number): string {
  loopsPerMs ??= measuredLoopsPerMs()
  return loop(Math.round(ms * loopsPerMs))
}

function loop(count: number): string {
  return `let sum = 0; for (let i = 0; i < ${count}; i++) sum = (Math.imul(sum, 31) + i) | 0; globalThis.sum = sum`
}

function measuredLoopsPerMs(): number {
  const count = 3e7
  const run = new Function(loop(count))
  // The first runs are slower: the engine compiles the loop.
  run()
  run()
  const before = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(before)
  return (count * 1_000) / (user + system)
}
