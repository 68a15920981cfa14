import type { HostCall } from './realm-program.ts'

/** Runs inside the sandbox: the globals of the web. Its source crosses, so it may use nothing from outside of it. */
export function webGlobals(_host: HostCall): void {}
